//! What comes before the first statement, and messages whose header is wrong.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::wire::{Client, Reply, Server, cancel_request, message, packet, query, startup};
use crate::pg::interrupt::Stop;
use crate::pg::listener::{ConnectionLimits, attend};

const SSL: u32 = 80_877_103;
const GSS: u32 = 80_877_104;
const V3: u32 = 196_608;

/// Everything the server says to `bytes` on a new connection before it closes.
async fn answer_to(bytes: &[u8]) -> Vec<u8> {
    let mut server = Server::new();
    let mut stream = server.connect(1 << 16);
    stream.write_all(bytes).await.unwrap();
    let mut answer = vec![];
    tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut answer)).await.unwrap().unwrap();
    server.connections.join_next().await.unwrap().unwrap();
    answer
}

/// SQLSTATE of the only message in `answer`.
fn state(answer: &[u8]) -> String {
    assert_eq!(answer.first(), Some(&b'E'), "{}", answer.escape_ascii());
    let reply = Reply { tag: b'E', body: answer[5..].to_vec() };
    assert_eq!(reply.field(b'S').as_deref(), Some("FATAL"));
    reply.field(b'C').unwrap()
}

#[tokio::test]
async fn encryption_is_refused_and_the_session_starts() {
    for requests in [vec![SSL], vec![GSS], vec![SSL, GSS], vec![GSS, SSL]] {
        let mut server = Server::new();
        let mut client = Client(server.connect(1 << 16));
        for code in requests {
            client.send(&packet(code, &[])).await;
            assert_eq!(client.0.read_u8().await.unwrap(), b'N');
        }
        client.send(&startup(V3, &[("user", "root"), ("database", "dev"), ("options", "-c a.b=1\\ 2 --work-mem=3")])).await;
        let replies = client.until_ready().await;
        assert_eq!(replies.first().map(|r| (r.tag, r.body.clone())), Some((b'R', vec![0; 4])));
        let parameters: Vec<String> = replies.iter().filter(|r| r.tag == b'S').map(|r| r.body.escape_ascii().to_string()).collect();
        assert!(parameters.contains(&"client_encoding\\x00UTF8\\x00".to_owned()), "{parameters:?}");
        assert!(parameters.iter().any(|p| p.starts_with("server_version\\x0015.0 (Millstream ")), "{parameters:?}");
        let log = server.engine.take_log();
        assert!(log[0].contains(r#"settings: [("a.b", "1 2"), ("work_mem", "3")]"#), "{log:?}");
    }
}

#[tokio::test]
async fn an_encryption_request_comes_at_most_once() {
    for code in [SSL, GSS] {
        let mut server = Server::new();
        let mut client = Client(server.connect(1 << 16));
        client.send(&packet(code, &[])).await;
        assert_eq!(client.0.read_u8().await.unwrap(), b'N');
        client.send(&packet(code, &[])).await;
        let replies = client.until_closed().await;
        assert_eq!(replies.iter().map(Reply::summary).collect::<Vec<_>>(), ["E FATAL 0A000"]);
    }
}

#[tokio::test]
async fn bytes_behind_an_encryption_request_end_the_connection() {
    let smuggled = [packet(SSL, &[]), startup(V3, &[("user", "root")])].concat();
    assert_eq!(answer_to(&smuggled).await, b"");
}

#[tokio::test]
async fn strangers_are_left_without_a_word() {
    for bytes in [
        &b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"[..],
        b"POST /x HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        &cancel_request(1, 2),
        &packet(80_877_102, &[0; 4]),
    ] {
        assert_eq!(answer_to(bytes).await, b"", "{}", bytes.escape_ascii());
    }
}

#[tokio::test]
async fn hanging_up_at_any_point_is_fine() {
    let whole = [startup(V3, &[("user", "root")]), query("rows 3")].concat();
    for cut in 0..whole.len() {
        let mut server = Server::new();
        let mut stream = server.connect(1 << 16);
        stream.write_all(&whole[..cut]).await.unwrap();
        drop(stream);
        server.connections.join_next().await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn startup_packets_that_are_refused() {
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (vec![0, 0, 0, 0], "08P01"),
        (vec![0, 0, 0, 7], "08P01"),
        (10_001_u32.to_be_bytes().to_vec(), "08P01"),
        (vec![0xff; 4], "08P01"),
        (vec![0x80, 0, 0, 0], "08P01"),
        (startup(2 << 16, &[("user", "root")]), "0A000"),
        (startup(4 << 16, &[("user", "root")]), "0A000"),
        (startup(V3, &[]), "28000"),
        (startup(V3, &[("user", "root"), ("replication", "true")]), "0A000"),
        (startup(V3, &[("user", "root"), ("database", "nowhere")]), "3D000"),
        (startup(V3, &[("user", "root"), ("options", "-x")]), "0A000"),
        (startup(V3, &[("user", "root"), ("options", "-c novalue")]), "42601"),
        (packet(V3, b"user\0root"), "08P01"),
        (packet(V3, b"user\0root\0"), "08P01"),
        (packet(V3, b"user\0root\0\0more"), "08P01"),
        (packet(V3, b"user\0\xff\0\0"), "22021"),
    ];
    for (bytes, expected) in cases {
        assert_eq!(state(&answer_to(&bytes).await), expected, "{}", bytes.escape_ascii());
    }
}

#[tokio::test]
async fn newer_minor_protocols_are_negotiated_down() {
    let mut server = Server::new();
    let mut client = Client(server.connect(1 << 16));
    client.send(&startup(V3 + 2, &[("user", "root"), ("_pq_.wish", "1")])).await;
    let replies = client.until_ready().await;
    assert_eq!((replies[0].tag, replies[0].body.as_slice()), (b'v', &b"\0\0\0\0\0\0\0\x01_pq_.wish\0"[..]));
}

#[tokio::test]
async fn a_start_that_takes_too_long_is_given_up() {
    let mut server = Server::with(ConnectionLimits { startup_timeout: Duration::from_millis(1), ..ConnectionLimits::default() });
    let mut stream = server.connect(1 << 16);
    stream.write_all(&[0, 0]).await.unwrap();
    let mut answer = vec![];
    stream.read_to_end(&mut answer).await.unwrap();
    assert_eq!(answer, b"");
}

#[tokio::test]
async fn one_client_too_many_is_told_so_but_may_cancel() {
    let mut server = Server::with(ConnectionLimits { max_connections: 1, ..ConnectionLimits::default() });
    let (mut first, process, secret) = server.client().await;
    let mut second = Client(server.connect(1 << 16));
    second.send(&startup(V3, &[("user", "root")])).await;
    assert_eq!(second.until_closed().await[0].summary(), "E FATAL 53300");
    first.send(&query("wait")).await;
    server.engine.waiting.notified().await;
    let mut third = Client(server.connect(1 << 16));
    third.send(&cancel_request(process, secret)).await;
    assert!(third.receive().await.is_none());
    let replies = first.until_ready().await;
    assert_eq!(replies[0].summary(), "E ERROR 57014");
    first.send(&message(b'X', &[])).await;
    assert!(first.receive().await.is_none());
    while server.connections.join_next().await.is_some() {}
    server.client().await;
}

#[tokio::test]
async fn a_message_with_a_wrong_header_ends_the_connection() {
    let too_long = u32::try_from(millstream_types::limits::MAX_MESSAGE_BYTES + 1).unwrap();
    for (tag, length) in [(b'Q', 0), (b'Q', 3), (b'Q', u32::MAX), (b'Q', 1 << 31), (b'P', too_long), (b'Y', 4), (b'p', 4), (0, 4)] {
        let mut server = Server::new();
        let (mut client, ..) = server.client().await;
        client.send(&[&[tag], &length.to_be_bytes()[..]].concat()).await;
        let reply = client.receive().await.unwrap();
        assert_eq!(reply.summary(), "E FATAL 08P01", "{tag} {length}");
        assert!(client.receive().await.is_none());
    }
}

#[tokio::test]
async fn a_large_message_arrives_in_pieces() {
    let mut server = Server::new();
    let mut client = Client(server.connect(1 << 10));
    client.send(&startup(V3, &[("user", "root")])).await;
    client.until_ready().await;
    let sql = format!("{}rows 1", " ".repeat(3 << 20));
    assert_eq!(client.query(&sql).await, ["T", "D 0", "C SELECT 1", "Z I"]);
}

#[test]
fn an_idle_connection_is_small() {
    let server = Server::new();
    let connection = attend(tokio::io::duplex(1).0, &server.desk, server.desk.place().unwrap(), Stop(server.stop.subscribe()));
    // Besides this it keeps buffers of at most 4 KiB in and 16 KiB out.
    assert!(size_of_val(&connection) < 16 << 10, "{}", size_of_val(&connection));
}
