//! Any bytes: never a panic, never a hang.

use std::time::Duration;

use proptest::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::wire::{Server, bind, describe, execute, message, parse, query, startup, sync};
use crate::pg::encode::numeric_text;
use crate::pg::frame::Frame;
use crate::pg::message::Message;

/// Sends the bytes and closes; the server must come to an end.
fn survives(bytes: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut server = Server::new();
        let (mut read, mut write) = tokio::io::split(server.connect(1 << 16));
        let exchange = async {
            // The server may hang up in the middle.
            let _ = write.write_all(bytes).await;
            let _ = write.shutdown().await;
            let mut answer = vec![];
            read.read_to_end(&mut answer).await.unwrap();
        };
        tokio::time::timeout(Duration::from_secs(30), exchange).await.expect("the server must hang up");
        tokio::time::timeout(Duration::from_secs(30), server.connections.join_next()).await.unwrap().unwrap().unwrap();
    });
}

fn valid_messages() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(query("begin; rows 3")),
        Just(query("fail")),
        Just(parse("s", "echo $1", &[23])),
        Just(bind("p", "s", &[1], &[Some(&[0, 0, 0, 1])], &[1])),
        Just(describe(b'P', "p")),
        Just(execute("p", 1)),
        Just(sync()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn any_bytes_instead_of_a_start(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        survives(&bytes);
    }

    #[test]
    fn any_start_packet(code in prop_oneof![Just(196_608_u32), Just(80_877_103), any::<u32>()], body in prop::collection::vec(any::<u8>(), 0..100)) {
        survives(&super::wire::packet(code, &body));
    }

    #[test]
    fn any_messages(messages in prop::collection::vec((prop::sample::select(b"QPBDECHSXFdcf".to_vec()), prop::collection::vec(any::<u8>(), 0..60)), 0..20)) {
        let mut bytes = startup(196_608, &[("user", "root")]);
        messages.iter().for_each(|(tag, body)| bytes.extend(message(*tag, body)));
        survives(&bytes);
    }

    #[test]
    fn damaged_messages(messages in prop::collection::vec(valid_messages(), 1..12), place in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>()) {
        let mut bytes = startup(196_608, &[("user", "root")]);
        let start = bytes.len();
        messages.iter().for_each(|m| bytes.extend(m));
        let length = bytes.len();
        bytes[start + place.index(length - start)] = byte;
        survives(&bytes);
        survives(&bytes[..start + cut.index(length - start)]);
    }

    #[test]
    fn decoders_take_any_body(tag: u8, body in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = numeric_text(&body);
        let _ = Message::decode(Frame { tag, body: body.into() });
    }
}
