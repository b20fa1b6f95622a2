//! The simple protocol, cancel, stop and slow readers.

use std::sync::atomic::Ordering;

use super::engine::BATCH_ROWS;
use super::wire::{Client, Reply, Server, cancel_request, message, query, startup};

#[tokio::test]
async fn statements_and_their_answers() {
    let mut server = Server::new();
    let (mut client, ..) = server.client().await;
    assert_eq!(client.query("").await, ["I", "Z I"]);
    assert_eq!(client.query(" ; ;").await, ["I", "Z I"]);
    assert_eq!(client.query("rows 2").await, ["T", "D 0", "D 1", "C SELECT 2", "Z I"]);
    assert_eq!(client.query("rows 0").await, ["T", "C SELECT 0", "Z I"]);
    assert_eq!(client.query("notice").await, ["N NOTICE 42P07", "C CREATE TABLE", "Z I"]);
    assert_eq!(client.query("set").await, ["C SET", "S", "Z I"]);
    assert_eq!(client.query("fail").await, ["E ERROR 22012 1", "Z I"]);
    assert_eq!(client.query("broken").await, ["T", "D 0", "D 1", "E ERROR 22012", "Z I"]);
    assert_eq!(client.query("rows 1").await, ["T", "D 0", "C SELECT 1", "Z I"]);
}

#[tokio::test]
async fn an_error_has_all_its_fields() {
    let mut server = Server::new();
    let (mut client, ..) = server.client().await;
    client.send(&query("rows 0; fail")).await;
    let replies = client.until_ready().await;
    let error = replies.iter().find(|r| r.tag == b'E').unwrap();
    let fields = [b'S', b'V', b'C', b'M', b'D', b'P'].map(|code| error.field(code).unwrap());
    assert_eq!(fields, ["ERROR", "ERROR", "22012", "division by zero", "1 / 0", "9"]);
}

#[tokio::test]
async fn several_statements_are_one_transaction_and_an_error_ends_the_message() {
    let mut server = Server::new();
    let (mut client, ..) = server.client().await;
    server.engine.take_log();
    assert_eq!(client.query("insert; insert").await, ["C INSERT 0 1", "C INSERT 0 1", "Z I"]);
    assert_eq!(server.engine.take_log(), ["begin implicit", "insert", "insert", "commit implicit"]);
    assert_eq!(client.query("insert; fail; insert").await, ["C INSERT 0 1", "E ERROR 22012 9", "Z I"]);
    assert_eq!(server.engine.take_log(), ["begin implicit", "insert", "roll back implicit"]);
    assert_eq!(client.query("insert; syntax").await, ["E ERROR 42601 9", "Z I"]);
    assert_eq!(server.engine.take_log(), Vec::<String>::new());
    assert_eq!(client.query("begin; insert; commit; insert").await.len(), 5);
    assert_eq!(server.engine.take_log(), ["begin implicit", "insert", "begin implicit", "insert", "commit implicit"]);
}

#[tokio::test]
async fn ready_for_query_says_where_the_transaction_is() {
    let mut server = Server::new();
    let (mut client, ..) = server.client().await;
    assert_eq!(client.query("begin").await, ["C BEGIN", "Z T"]);
    assert_eq!(client.query("syntax").await, ["E ERROR 42601 1", "Z E"]);
    assert_eq!(client.query("rows 1").await, ["E ERROR 25P02", "Z E"]);
    assert_eq!(client.query("rollback").await, ["C ROLLBACK", "Z I"]);
    assert_eq!(client.query("begin; broken").await.last().unwrap(), "Z E");
}

#[tokio::test]
async fn cancel_ends_the_running_statement_only() {
    let mut server = Server::new();
    let (mut client, process, secret) = server.client().await;
    let ask = async |server: &mut Server, secret: i32| {
        let mut other = Client(server.connect(1 << 10));
        other.send(&cancel_request(process, secret)).await;
        assert!(other.receive().await.is_none(), "a cancel request gets no answer");
    };
    // Idle: nothing, and it is not kept for later.
    ask(&mut server, secret).await;
    assert_eq!(client.query("rows 1").await, ["T", "D 0", "C SELECT 1", "Z I"]);
    client.send(&query("begin; wait; rows 1")).await;
    server.engine.waiting.notified().await;
    ask(&mut server, secret.wrapping_add(1)).await;
    ask(&mut server, secret).await;
    let replies: Vec<String> = client.until_ready().await.iter().map(Reply::summary).collect();
    assert_eq!(replies, ["C BEGIN", "E ERROR 57014", "Z E"]);
    assert_eq!(client.query("rollback").await, ["C ROLLBACK", "Z I"]);
}

#[tokio::test]
async fn a_client_that_leaves_ends_its_statement() {
    let mut server = Server::new();
    let (mut client, ..) = server.client().await;
    client.send(&query("wait")).await;
    server.engine.waiting.notified().await;
    drop(client);
    server.connections.join_next().await.unwrap().unwrap();
}

#[tokio::test]
async fn a_slow_reader_holds_the_query_back_and_can_cancel_it() {
    let mut server = Server::new();
    let mut client = Client(server.connect(4 << 10));
    client.send(&startup(196_608, &[("user", "root")])).await;
    let hello = client.until_ready().await;
    let key = &hello.iter().find(|r| r.tag == b'K').unwrap().body;
    let number = |at: usize| i32::from_be_bytes(key[at..at + 4].try_into().unwrap());
    client.send(&query("rows 100000000")).await;
    let mut produced = usize::MAX;
    while produced != server.engine.batches.load(Ordering::SeqCst) || produced == 0 {
        produced = server.engine.batches.load(Ordering::SeqCst);
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    }
    assert!(produced * BATCH_ROWS < 20_000, "{produced} batches for a client that reads nothing");
    let mut other = Client(server.connect(1 << 10));
    other.send(&cancel_request(number(0), number(4))).await;
    assert!(other.receive().await.is_none());
    let replies = client.until_ready().await;
    assert_eq!(replies[replies.len() - 2].summary(), "E ERROR 57014");
    assert!(replies[1..replies.len() - 2].iter().all(|r| r.tag == b'D'), "no row is cut in two");
    assert_eq!(client.query("rows 1").await, ["T", "D 0", "C SELECT 1", "Z I"]);
}

#[tokio::test]
async fn stopping_ends_idle_and_running_connections() {
    let mut server = Server::new();
    let (mut idle, ..) = server.client().await;
    let (mut running, ..) = server.client().await;
    running.send(&query("wait")).await;
    server.engine.waiting.notified().await;
    server.stop.send(true).unwrap();
    for client in [&mut idle, &mut running] {
        assert_eq!(client.until_closed().await[0].summary(), "E FATAL 57P01");
    }
    while let Some(ended) = server.connections.join_next().await {
        ended.unwrap();
    }
}

#[tokio::test]
async fn a_panic_ends_only_its_connection() {
    let mut server = Server::new();
    let (mut client, ..) = server.client().await;
    let (mut other, ..) = server.client().await;
    client.send(&query("panic")).await;
    assert_eq!(client.until_closed().await[0].summary(), "E FATAL XX000");
    server.connections.join_next().await.unwrap().unwrap();
    assert_eq!(other.query("rows 0").await, ["T", "C SELECT 0", "Z I"]);
}

#[tokio::test]
async fn stray_and_unsupported_messages() {
    let mut server = Server::new();
    let (mut client, ..) = server.client().await;
    let strays = [message(b'd', b"1\t2"), message(b'c', b""), message(b'f', b"no\0"), query("rows 0")].concat();
    assert_eq!(client.ask(&strays).await, ["T", "C SELECT 0", "Z I"]);
    assert_eq!(client.ask(&message(b'F', b"whatever")).await, ["E ERROR 0A000", "Z I"]);
    assert_eq!(client.ask(&message(b'Q', b"no end")).await, ["E ERROR 08P01", "Z I"]);
    assert_eq!(client.ask(&message(b'Q', b"rows 1\0more\0")).await, ["E ERROR 08P01", "Z I"]);
    assert_eq!(client.ask(&message(b'Q', b"\xc3\x28\0")).await, ["E ERROR 22021", "Z I"]);
    client.send(&message(b'X', b"")).await;
    assert!(client.receive().await.is_none());
}
