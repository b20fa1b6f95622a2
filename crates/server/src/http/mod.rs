//! The HTTP server: is it alive, and which jobs are there (shapes of Flink's REST API).

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use millstream_types::Result;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::database::Database;

/// Serves until `stopped` becomes true.
///
/// # Errors
/// When the listener fails.
pub async fn serve(listener: TcpListener, database: Arc<Database>, mut stopped: watch::Receiver<bool>) -> Result<()> {
    let router = Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/jobs/overview", get(jobs_overview))
        .route("/v1/jobs/overview", get(jobs_overview))
        .layer(middleware::from_fn(loopback_names_only))
        .with_state(database);
    let stop = async move {
        // An error means that the sender is gone, which is a stop as well.
        let _ = stopped.wait_for(|s| *s).await;
    };
    axum::serve(listener, router).with_graceful_shutdown(stop).await?;
    Ok(())
}

/// Against DNS rebinding: a browser that was tricked to this port names another host.
async fn loopback_names_only(headers: HeaderMap, request: axum::extract::Request, next: Next) -> Response {
    let host = headers.get(header::HOST).and_then(|h| h.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, port)| if port.ends_with(']') { host } else { name });
    if ["127.0.0.1", "localhost", "[::1]"].contains(&name) {
        next.run(request).await
    } else {
        (StatusCode::FORBIDDEN, Json(json!({"errors": ["this server answers to its loopback names only"]}))).into_response()
    }
}

async fn jobs_overview(State(database): State<Arc<Database>>) -> Json<Value> {
    let jobs = database.cluster().jobs().list();
    let entries = jobs.iter().map(|j| {
        json!({
            "jid": format!("{:032x}", j.job.0),
            "name": j.name,
            "state": j.status.to_string(),
            "start-time": j.start_time_micros / 1000,
        })
    });
    Json(json!({"jobs": entries.collect::<Vec<_>>()}))
}
