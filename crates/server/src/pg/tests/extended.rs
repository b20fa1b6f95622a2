//! The extended protocol.

use super::wire::{Reply, Server, bind, close, describe, execute, flush, message, parse, query, sync};

#[tokio::test]
async fn a_statement_with_a_parameter() {
    let mut server = Server::new();
    let (mut client, ..) = server.client().await;
    let all = [
        parse("s", "echo $1", &[]),
        describe(b'S', "s"),
        bind("", "s", &[], &[Some(b"42")], &[]),
        describe(b'P', ""),
        execute("", 0),
        bind("", "s", &[1], &[Some(&[0, 0, 0, 7])], &[1]),
        execute("", 0),
        bind("", "s", &[], &[None], &[]),
        execute("", 0),
        close(b'S', "s"),
        sync(),
    ];
    let expected = ["1", "t", "T", "2", "T", "D 42", "C SELECT 1", "2", "D \\x00\\x00\\x00\\x07", "C SELECT 1", "2", "D ", "C SELECT 1"];
    let replies = client.ask(&all.concat()).await;
    assert_eq!(replies, [&expected[..], &["3", "Z I"]].concat());
    let gone = [bind("", "s", &[], &[None], &[]), sync()].concat();
    assert_eq!(client.ask(&gone).await, ["E ERROR 26000", "Z I"]);
}

#[tokio::test]
async fn an_error_skips_to_sync_with_one_ready_for_query() {
    let mut server = Server::new();
    let (mut client, ..) = server.client().await;
    let failing = |first: Vec<u8>| [first, execute("", 0), query("rows 1"), describe(b'P', ""), message(b'H', b""), sync()].concat();
    for (first, expected) in [
        (parse("", "syntax", &[]), "E ERROR 42601 1"),
        (parse("", "rows 1; rows 2", &[]), "E ERROR 42601"),
        (parse("", "  unknown", &[]), "E ERROR 42P01 3"),
        (parse("", "echo $1", &[600]), "E ERROR 0A000"),
        (parse("", "echo $1", &[999_999]), "E ERROR 42704"),
        (bind("", "nothing", &[], &[], &[]), "E ERROR 26000"),
        (bind("", "", &[], &[], &[]), "E ERROR 26000"),
        (execute("nothing", 0), "E ERROR 34000"),
        (describe(b'S', "nothing"), "E ERROR 26000"),
        (describe(b'P', "nothing"), "E ERROR 34000"),
        (describe(b'x', ""), "E ERROR 08P01"),
        (message(b'P', b""), "E ERROR 08P01"),
        (message(b'P', b"\0\0\xff\xff"), "E ERROR 08P01"),
        (message(b'B', b"\0\0\0\0\0\x01\0\0\0\x09x\0\0"), "E ERROR 08P01"),
        (message(b'B', b"\0\0\0\0\0\x01\xff\xff\xff\xfe\0\0"), "E ERROR 08P01"),
        (message(b'E', b"\0\0"), "E ERROR 08P01"),
        (message(b'C', b""), "E ERROR 08P01"),
    ] {
        let replies = client.ask(&failing(first)).await;
        assert_eq!(replies, [expected, "Z I"]);
    }
    assert_eq!(client.query("rows 0").await, ["T", "C SELECT 0", "Z I"]);
}

#[tokio::test]
async fn bind_checks_counts_formats_and_values() {
    let mut server = Server::new();
    let (mut client, ..) = server.client().await;
    for (types, message, expected) in [
        (vec![], bind("", "", &[], &[], &[]), "E ERROR 08P01"),
        (vec![], bind("", "", &[], &[None, None], &[]), "E ERROR 08P01"),
        (vec![], bind("", "", &[0, 0], &[None], &[]), "E ERROR 08P01"),
        (vec![], bind("", "", &[2], &[None], &[]), "E ERROR 22023"),
        (vec![], bind("", "", &[], &[None], &[0, 0]), "E ERROR 08P01"),
        (vec![], bind("", "", &[], &[None], &[7]), "E ERROR 22023"),
        (vec![], bind("", "", &[], &[Some(b"x")], &[]), "E ERROR 22P02"),
        (vec![], bind("", "", &[], &[Some(b"99999999999")], &[]), "E ERROR 22003"),
        (vec![], bind("", "", &[1], &[Some(b"12345")], &[]), "E ERROR 22P03"),
        (vec![25], bind("", "", &[], &[Some(b"\xff")], &[]), "E ERROR 22021"),
        (vec![25], bind("", "", &[], &[Some(b"a\0b")], &[]), "E ERROR 22021"),
        (vec![25], bind("", "", &[1], &[Some(b"a\0b")], &[]), "E ERROR 22021"),
        (vec![1700], bind("", "", &[1], &[Some(b"\0\x01\0\0\0\0\0\0\xff\xff")], &[]), "E ERROR 22P03"),
        (vec![1114], bind("", "", &[1], &[Some(&i64::MAX.to_be_bytes())], &[]), "E ERROR 22008"),
        (vec![1114], bind("", "", &[], &[Some(b"2020-13-01")], &[]), "E ERROR 22008"),
    ] {
        let replies = client.ask(&[parse("", "echo $1", &types), message.clone(), sync()].concat()).await;
        assert_eq!(replies, ["1", expected, "Z I"], "{}", message.escape_ascii());
    }
}

#[tokio::test]
async fn names_may_not_be_taken_twice() {
    let mut server = Server::new();
    let (mut client, ..) = server.client().await;
    assert_eq!(client.ask(&[parse("s", "rows 3", &[]), sync()].concat()).await, ["1", "Z I"]);
    assert_eq!(client.ask(&[parse("s", "rows 3", &[]), sync()].concat()).await, ["E ERROR 42P05", "Z I"]);
    let twice = [bind("p", "s", &[], &[], &[]), bind("p", "s", &[], &[], &[]), sync()].concat();
    assert_eq!(client.ask(&twice).await, ["2", "E ERROR 42P03", "Z I"]);
    assert_eq!(client.query("discard").await, ["C DISCARD ALL", "Z I"]);
    assert_eq!(client.ask(&[parse("s", "rows 3", &[]), sync()].concat()).await, ["1", "Z I"]);
}

#[tokio::test]
async fn a_portal_is_read_in_parts() {
    let mut server = Server::new();
    let (mut client, ..) = server.client().await;
    client.query("begin").await;
    let start = [parse("", "rows 5", &[]), bind("p", "", &[], &[], &[]), execute("p", 2), sync()].concat();
    assert_eq!(client.ask(&start).await, ["1", "2", "D 0", "D 1", "s", "Z T"]);
    assert_eq!(client.ask(&[execute("p", 2), sync()].concat()).await, ["D 2", "D 3", "s", "Z T"]);
    assert_eq!(client.ask(&[execute("p", 2), sync()].concat()).await, ["D 4", "C SELECT 1", "Z T"]);
    assert_eq!(client.ask(&[execute("p", 2), sync()].concat()).await, ["C SELECT 0", "Z T"]);
    assert_eq!(client.query("commit").await, ["C COMMIT", "Z I"]);
    assert_eq!(client.ask(&[execute("p", 2), sync()].concat()).await, ["E ERROR 34000", "Z I"]);
}

#[tokio::test]
async fn without_a_transaction_a_portal_ends_at_sync() {
    let mut server = Server::new();
    let (mut client, ..) = server.client().await;
    let part = [parse("", "rows 5", &[]), bind("", "", &[], &[], &[]), execute("", 2), flush()].concat();
    client.send(&part).await;
    let mut replies = vec![];
    while replies.last().is_none_or(|r: &String| r != "s") {
        replies.push(client.receive().await.unwrap().summary());
    }
    assert_eq!(replies, ["1", "2", "D 0", "D 1", "s"]);
    assert_eq!(client.ask(&[execute("", 2), sync()].concat()).await, ["D 2", "D 3", "s", "Z I"]);
    assert_eq!(client.ask(&[execute("", 2), sync()].concat()).await, ["E ERROR 34000", "Z I"]);
}

#[tokio::test]
async fn a_pipeline_is_one_transaction_and_a_lone_statement_needs_none() {
    let mut server = Server::new();
    let (mut client, ..) = server.client().await;
    server.engine.take_log();
    let insert = |name: &str| [parse(name, "insert", &[]), bind("", name, &[], &[], &[]), execute("", 0)].concat();
    assert_eq!(client.ask(&[insert(""), sync()].concat()).await, ["1", "2", "C INSERT 0 1", "Z I"]);
    assert_eq!(server.engine.take_log(), ["insert"]);
    client.ask(&[insert(""), insert(""), sync()].concat()).await;
    assert_eq!(server.engine.take_log(), ["begin implicit", "insert", "insert", "commit implicit"]);
    let failing = [insert(""), parse("", "fail", &[]), bind("", "", &[], &[], &[]), execute("", 0), insert(""), sync()].concat();
    assert_eq!(client.ask(&failing).await, ["1", "2", "C INSERT 0 1", "1", "2", "E ERROR 22012 1", "Z I"]);
    assert_eq!(server.engine.take_log(), ["begin implicit", "insert", "roll back implicit"]);
}

#[tokio::test]
async fn the_empty_statement_and_commands_run_once() {
    let mut server = Server::new();
    let (mut client, ..) = server.client().await;
    let empty = [parse("", "", &[]), describe(b'S', ""), bind("", "", &[], &[], &[]), execute("", 0), sync()].concat();
    assert_eq!(client.ask(&empty).await, ["1", "t", "n", "2", "I", "Z I"]);
    let twice = [parse("", "insert", &[]), bind("", "", &[], &[], &[]), execute("", 0), execute("", 0), sync()].concat();
    assert_eq!(client.ask(&twice).await, ["1", "2", "C INSERT 0 1", "E ERROR 55000", "Z I"]);
}

#[tokio::test]
async fn an_error_is_sent_without_waiting_for_sync() {
    let mut server = Server::new();
    let (mut client, ..) = server.client().await;
    client.send(&parse("", "syntax", &[])).await;
    assert_eq!(client.receive().await.as_ref().map(Reply::summary).as_deref(), Some("E ERROR 42601 1"));
    assert_eq!(client.ask(&sync()).await, ["Z I"]);
}

#[tokio::test]
async fn declared_types_come_back() {
    let mut server = Server::new();
    let (mut client, ..) = server.client().await;
    client.send(&[parse("", "echo $1", &[1043]), describe(b'S', ""), sync()].concat()).await;
    let replies = client.until_ready().await;
    assert_eq!(replies[1].body, [0, 1, 0, 0, 4, 0x13]);
}
