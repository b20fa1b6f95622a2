//! Real clients: tokio-postgres over a stream, psql over TCP.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Output;
use std::sync::Arc;

use futures::{TryStreamExt, pin_mut};
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_postgres::{Client, Config, NoTls};

use super::engine::Engine;
use super::wire::Server;
use crate::pg::{ConnectionLimits, serve_with};

/// A tokio-postgres client; the second value drives it.
async fn client(server: &mut Server) -> (Client, JoinSet<()>) {
    let stream = server.connect(1 << 16);
    let (client, connection) = Config::new().user("root").dbname("dev").connect_raw(stream, NoTls).await.unwrap();
    let mut driver = JoinSet::new();
    driver.spawn(async { connection.await.unwrap() });
    (client, driver)
}

#[tokio::test]
async fn tokio_postgres_speaks_with_us() {
    let mut server = Server::new();
    let (client, _driver) = client(&mut server).await;
    let row = client.query_one("echo $1", &[&42_i32]).await.unwrap();
    assert_eq!(row.get::<_, i32>(0), 42);
    assert!(client.query_one("echo $1", &[&None::<i32>]).await.unwrap().get::<_, Option<i32>>(0).is_none());
    assert_eq!(client.execute("insert", &[]).await.unwrap(), 1);
    // Pipelined: the second fails, the others do not.
    let (first, second, third) = futures::join!(client.query("rows 3", &[]), client.query("fail", &[]), client.query("rows 1", &[]));
    assert_eq!((first.unwrap().len(), third.unwrap().len()), (3, 1));
    assert_eq!(second.unwrap_err().code().unwrap().code(), "22012");
    let stream = client.query_raw("rows 5000", Vec::<i32>::new()).await.unwrap();
    pin_mut!(stream);
    let sum = stream.map_ok(|row| i64::from(row.get::<_, i32>(0))).try_fold(0, async |a, b| Ok(a + b)).await.unwrap();
    assert_eq!(sum, 4999 * 5000 / 2);
}

#[tokio::test]
async fn tokio_postgres_reads_a_portal_in_parts() {
    let mut server = Server::new();
    let (mut client, _driver) = client(&mut server).await;
    let transaction = client.transaction().await.unwrap();
    let portal = transaction.bind("rows 5", &[]).await.unwrap();
    let mut parts = vec![];
    for _ in 0..3 {
        parts.push(transaction.query_portal(&portal, 2).await.unwrap().len());
    }
    assert_eq!(parts, [2, 2, 1]);
    transaction.commit().await.unwrap();
}

#[tokio::test]
async fn tokio_postgres_cancels() {
    let mut server = Server::new();
    let (client, _driver) = client(&mut server).await;
    let token = client.cancel_token();
    let cancel = async {
        server.engine.waiting.notified().await;
        token.cancel_query_raw(server.connect(1 << 10), NoTls).await.unwrap();
    };
    let (waited, ()) = futures::join!(client.query("wait", &[]), cancel);
    assert_eq!(waited.unwrap_err().code().unwrap().code(), "57014");
    assert_eq!(client.query("rows 2", &[]).await.unwrap().len(), 2);
}

async fn psql(addr: SocketAddr, arguments: &[&str]) -> Output {
    let port = addr.port().to_string();
    let mut command = Command::new("psql");
    command.args(["-X", "-At", "-h", "127.0.0.1", "-p", &port, "-U", "root", "-d", "dev"]).args(arguments);
    command.output().await.unwrap()
}

#[tokio::test]
async fn psql_speaks_with_us() {
    if !Path::new("/usr/bin/psql").exists() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let (stop, stopped) = watch::channel(false);
    let mut server = JoinSet::new();
    let limits = ConnectionLimits { max_connections: 2, ..ConnectionLimits::default() };
    server.spawn(serve_with(listener, Arc::new(Engine::default()), limits, stopped));
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let rows = psql(addr, &["-c", "rows 3"]).await;
    assert_eq!((text(&rows.stdout), text(&rows.stderr)), ("0\n1\n2\n".to_owned(), String::new()));
    let failed = psql(addr, &["-c", "begin; fail"]).await;
    assert_eq!(text(&failed.stderr), "ERROR:  division by zero\nLINE 1: begin; fail\n               ^\nDETAIL:  1 / 0\n");
    let notice = psql(addr, &["-c", "notice"]).await;
    assert_eq!(text(&notice.stderr), "NOTICE:  relation \"t\" already exists, skipping\nHINT:  look\n");
    let gone = psql(addr, &["-c", "\\c nowhere"]).await;
    assert!(text(&gone.stderr).contains("database \"nowhere\" does not exist"), "{}", text(&gone.stderr));
    stop.send(true).unwrap();
    while let Some(ended) = server.join_next().await {
        ended.unwrap().unwrap();
    }
}
