//! From the first byte to the start-up packet: TLS and GSS requests are answered `N`, cancel requests handed over, anything else refused.

use bytes::Buf;
use millstream_types::limits::MAX_STARTUP_BYTES;
use millstream_types::{Error, Result, SqlState};
use pgwire::messages::PgWireBackendMessage;
use pgwire::messages::startup::NegotiateProtocolVersion;
use tokio::io::{AsyncRead, AsyncWrite};

use super::Hangup;
use super::frame::{FrameReader, violation};
use super::message::Body;
use super::outbox::Outbox;
use super::service::StartupParams;

const CANCEL_CODE: u32 = 80_877_102;
const SSL_CODE: u32 = 80_877_103;
const GSS_CODE: u32 = 80_877_104;

/// What a new connection is for.
#[derive(Debug, PartialEq)]
pub(super) enum Greeting {
    /// A session.
    Start(StartupParams),
    /// Cancelling the statement of another connection.
    Cancel { process: i32, secret: i32 },
}

/// Reads what a client opens with. Sends only the answers of the negotiation.
pub(super) async fn greet<R, W>(reader: &mut FrameReader<R>, out: &mut Outbox<W>) -> Result<Greeting, Hangup>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let (mut ssl_asked, mut gss_asked) = (false, false);
    loop {
        let Some(mut packet) = reader.start_packet(MAX_STARTUP_BYTES).await? else { return Err(Hangup::Quietly) };
        let code = packet.get_u32();
        let asked = match code {
            SSL_CODE => &mut ssl_asked,
            GSS_CODE => &mut gss_asked,
            CANCEL_CODE if packet.remaining() == 8 => {
                return Ok(Greeting::Cancel { process: packet.get_i32(), secret: packet.get_i32() });
            }
            CANCEL_CODE => return Err(Hangup::Quietly),
            _ => return start(code, Body(packet), out).map_err(Hangup::With),
        };
        if *asked || packet.has_remaining() {
            return Err(Hangup::With(unsupported_protocol(code)));
        }
        *asked = true;
        // Whoever waits for our answer sends nothing yet: bytes behind the request were put there by somebody in between.
        if reader.has_bytes() {
            return Err(Hangup::Quietly);
        }
        out.put_byte(b'N');
        out.flush().await?;
    }
}

fn unsupported_protocol(code: u32) -> Error {
    let (major, minor) = (code >> 16, code & 0xffff);
    Error::new(SqlState::FEATURE_NOT_SUPPORTED, format!("unsupported frontend protocol {major}.{minor}: server supports 3.0"))
}

fn start<W: AsyncWrite + Unpin>(code: u32, mut body: Body, out: &mut Outbox<W>) -> Result<Greeting> {
    if code >> 16 != 3 {
        return Err(unsupported_protocol(code));
    }
    let mut params = StartupParams::default();
    let mut unknown_options = vec![];
    loop {
        let name = body.text()?;
        if name.is_empty() {
            break;
        }
        let value = body.text()?;
        match name.as_str() {
            "user" => params.user = value,
            "database" => params.database = Some(value).filter(|d| !d.is_empty()),
            "options" => command_line_settings(&value, &mut params.settings)?,
            "replication" if !matches!(value.as_str(), "false" | "off" | "no" | "0") => return Err(Error::unsupported("replication")),
            "replication" => (),
            option if option.starts_with("_pq_.") => unknown_options.push(name),
            _ => params.settings.push((name, value)),
        }
    }
    if body.0.has_remaining() {
        return Err(violation("invalid startup packet layout: expected terminator as last byte"));
    }
    if code & 0xffff != 0 || !unknown_options.is_empty() {
        out.send(PgWireBackendMessage::NegotiateProtocolVersion(NegotiateProtocolVersion::new(0, unknown_options)))?;
    }
    if params.user.is_empty() {
        let state = SqlState::from_code("28000").unwrap_or(SqlState::PROTOCOL_VIOLATION);
        return Err(Error::new(state, "no user name specified in startup packet"));
    }
    Ok(Greeting::Start(params))
}

/// Settings of PGOPTIONS: `-c name=value`, `-cname=value` and `--name=value`, a backslash before what belongs to the word.
fn command_line_settings(options: &str, settings: &mut Vec<(String, String)>) -> Result<()> {
    let mut words = words(options).into_iter();
    while let Some(word) = words.next() {
        let setting = match word.strip_prefix("-c").or_else(|| word.strip_prefix("--")) {
            Some("") => words.next().unwrap_or_default(),
            Some(setting) => setting.to_owned(),
            None => return Err(Error::unsupported(format!("command-line option \"{word}\""))),
        };
        let (name, value) = setting
            .split_once('=')
            .ok_or_else(|| Error::new(SqlState::SYNTAX_ERROR, format!("invalid command-line argument for server process: {word}")))?;
        settings.push((name.replace('-', "_"), value.to_owned()));
    }
    Ok(())
}

fn words(options: &str) -> Vec<String> {
    let mut words = vec![];
    let mut word = String::new();
    let mut chars = options.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => word.extend(chars.next()),
            c if c.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            c => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}
