//! A client that speaks in bytes.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::engine::Engine;
use crate::pg::interrupt::Stop;
use crate::pg::listener::{ConnectionLimits, FrontDesk, attend};

/// A front desk, its connections, and the switch that stops it.
pub(super) struct Server {
    pub(super) engine: Arc<Engine>,
    pub(super) desk: Arc<FrontDesk<Engine>>,
    pub(super) stop: watch::Sender<bool>,
    pub(super) connections: JoinSet<()>,
}

impl Server {
    pub(super) fn new() -> Self {
        Self::with(ConnectionLimits::default())
    }

    pub(super) fn with(limits: ConnectionLimits) -> Self {
        let engine = Arc::new(Engine::default());
        let desk = Arc::new(FrontDesk::new(Arc::clone(&engine), limits).unwrap());
        Server { engine, desk, stop: watch::channel(false).0, connections: JoinSet::new() }
    }

    /// A connection whose stream holds `buffer` bytes on each side.
    pub(super) fn connect(&mut self, buffer: usize) -> DuplexStream {
        let (ours, theirs) = tokio::io::duplex(buffer);
        let desk = Arc::clone(&self.desk);
        let stop = Stop(self.stop.subscribe());
        let place = desk.place().unwrap();
        self.connections.spawn(async move { attend(theirs, &desk, place, stop).await });
        ours
    }

    /// A connection that has said hello: the client, its process number and its secret.
    pub(super) async fn client(&mut self) -> (Client, i32, i32) {
        let mut client = Client(self.connect(1 << 20));
        client.send(&startup(196_608, &[("user", "root")])).await;
        let hello = client.until_ready().await;
        let key = hello.iter().find(|m| m.tag == b'K').unwrap();
        let number = |at: usize| i32::from_be_bytes(key.body[at..at + 4].try_into().unwrap());
        (client, number(0), number(4))
    }
}

/// A message of the server.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) tag: u8,
    pub(super) body: Vec<u8>,
}

impl Reply {
    /// The field of an error or notice.
    pub(super) fn field(&self, code: u8) -> Option<String> {
        let fields = self.body.split(|b| *b == 0).filter_map(|f| Some((*f.first()?, String::from_utf8_lossy(&f[1..]).into_owned())));
        fields.into_iter().find(|(c, _)| *c == code).map(|(_, text)| text)
    }

    /// One line for what a test looks at.
    pub(super) fn summary(&self) -> String {
        let mut line = String::from(char::from(self.tag));
        match self.tag {
            b'E' | b'N' => {
                for code in [b'S', b'C', b'P'] {
                    if let Some(text) = self.field(code) {
                        write!(line, " {text}").unwrap();
                    }
                }
            }
            b'C' => write!(line, " {}", String::from_utf8_lossy(&self.body[..self.body.len() - 1])).unwrap(),
            b'Z' => write!(line, " {}", char::from(self.body[0])).unwrap(),
            b'D' => {
                let mut rest = &self.body[2..];
                while let Some((length, tail)) = rest.split_first_chunk::<4>() {
                    let length = usize::try_from(i32::from_be_bytes(*length)).unwrap_or(0);
                    write!(line, " {}", tail[..length].escape_ascii()).unwrap();
                    rest = &tail[length..];
                }
            }
            _ => (),
        }
        line
    }
}

pub(super) struct Client(pub(super) DuplexStream);

impl Client {
    pub(super) async fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).await.unwrap();
    }

    /// The next message; `None` at the end of the stream.
    pub(super) async fn receive(&mut self) -> Option<Reply> {
        tokio::time::timeout(Duration::from_secs(10), async {
            let mut header = [0; 5];
            self.0.read_exact(&mut header).await.ok()?;
            let length = u32::from_be_bytes(header[1..].try_into().unwrap());
            let mut body = vec![0; usize::try_from(length).unwrap() - 4];
            self.0.read_exact(&mut body).await.unwrap();
            Some(Reply { tag: header[0], body })
        })
        .await
        .expect("the server must answer")
    }

    /// All messages up to `ReadyForQuery`.
    pub(super) async fn until_ready(&mut self) -> Vec<Reply> {
        let mut replies = vec![];
        loop {
            let reply = self.receive().await.expect("the connection must stay open");
            let ready = reply.tag == b'Z';
            replies.push(reply);
            if ready {
                return replies;
            }
        }
    }

    /// Everything up to the end of the stream.
    pub(super) async fn until_closed(&mut self) -> Vec<Reply> {
        let mut replies = vec![];
        while let Some(reply) = self.receive().await {
            replies.push(reply);
        }
        replies
    }

    /// Sends and summarises what comes back up to `ReadyForQuery`.
    pub(super) async fn ask(&mut self, bytes: &[u8]) -> Vec<String> {
        self.send(bytes).await;
        self.until_ready().await.iter().map(Reply::summary).collect()
    }

    /// A simple query.
    pub(super) async fn query(&mut self, sql: &str) -> Vec<String> {
        self.ask(&query(sql)).await
    }
}

pub(super) fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
    [&[tag], &length[..], body].concat()
}

pub(super) fn packet(code: u32, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 8).unwrap().to_be_bytes();
    [&length[..], &code.to_be_bytes(), body].concat()
}

pub(super) fn startup(version: u32, params: &[(&str, &str)]) -> Vec<u8> {
    let mut body: Vec<u8> = params.iter().flat_map(|(name, value)| format!("{name}\0{value}\0").into_bytes()).collect();
    body.push(0);
    packet(version, &body)
}

pub(super) fn cancel_request(process: i32, secret: i32) -> Vec<u8> {
    packet(80_877_102, &[process.to_be_bytes(), secret.to_be_bytes()].concat())
}

pub(super) fn query(sql: &str) -> Vec<u8> {
    message(b'Q', format!("{sql}\0").as_bytes())
}

pub(super) fn parse(name: &str, sql: &str, types: &[u32]) -> Vec<u8> {
    let mut body = format!("{name}\0{sql}\0").into_bytes();
    body.extend(u16::try_from(types.len()).unwrap().to_be_bytes());
    types.iter().for_each(|oid| body.extend(oid.to_be_bytes()));
    message(b'P', &body)
}

pub(super) fn bind(portal: &str, statement: &str, formats: &[i16], values: &[Option<&[u8]>], results: &[i16]) -> Vec<u8> {
    let mut body = format!("{portal}\0{statement}\0").into_bytes();
    let count = |n: usize| u16::try_from(n).unwrap().to_be_bytes();
    body.extend(count(formats.len()));
    formats.iter().for_each(|f| body.extend(f.to_be_bytes()));
    body.extend(count(values.len()));
    for value in values {
        match value {
            Some(bytes) => {
                body.extend(i32::try_from(bytes.len()).unwrap().to_be_bytes());
                body.extend(*bytes);
            }
            None => body.extend((-1_i32).to_be_bytes()),
        }
    }
    body.extend(count(results.len()));
    results.iter().for_each(|f| body.extend(f.to_be_bytes()));
    message(b'B', &body)
}

pub(super) fn execute(portal: &str, max_rows: i32) -> Vec<u8> {
    message(b'E', &[format!("{portal}\0").as_bytes(), &max_rows.to_be_bytes()].concat())
}

pub(super) fn describe(kind: u8, name: &str) -> Vec<u8> {
    message(b'D', &[&[kind], format!("{name}\0").as_bytes()].concat())
}

pub(super) fn close(kind: u8, name: &str) -> Vec<u8> {
    message(b'C', &[&[kind], format!("{name}\0").as_bytes()].concat())
}

pub(super) fn sync() -> Vec<u8> {
    message(b'S', &[])
}

pub(super) fn flush() -> Vec<u8> {
    message(b'H', &[])
}
