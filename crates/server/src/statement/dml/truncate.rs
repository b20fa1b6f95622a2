//! TRUNCATE: deletes all rows.

use millstream_sql::statement::Truncate;
use millstream_types::{Error, Result};

use super::write::{Target, columns, deletes, write};
use crate::pg::service::Response;
use crate::session::Session;
use crate::statement::{command, query};

pub(in crate::statement) async fn run(session: &mut Session, truncate: &Truncate) -> Result<Response> {
    if truncate.restart_identity {
        return Err(Error::unsupported("RESTART IDENTITY"));
    }
    let targets = truncate.tables.iter().map(|t| Target::find(session, t)).collect::<Result<Vec<_>>>()?;
    for target in &targets {
        let locks = match session.transaction {
            None => Some(session.db.cluster().tables().lock(&[target.object.id]).await?),
            Some(_) => None,
        };
        let lease = query::lease(session, &[target.object.id]).await?;
        let bound = millstream_planner::dml::bind_all_rows(&target.relation)?;
        let rows = query::collect(session, bound, lease, "").await?;
        let stored = target.relation.stored_schema();
        let old = columns(&rows, 0..stored.len(), &stored.to_arrow())?;
        write(session, target, locks.as_ref(), deletes(old)).await?;
    }
    Ok(command("TRUNCATE TABLE"))
}
