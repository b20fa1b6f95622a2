//! Accepts connections, bounds their number, and sees each from its first byte to its last.

use std::sync::Arc;
use std::time::Duration;

use millstream_types::limits::{MAX_CONNECTIONS, STARTUP_TIMEOUT_MS};
use millstream_types::{Error, Result, SqlState};
use pgwire::messages::PgWireBackendMessage;
use pgwire::messages::startup::{Authentication, BackendKeyData, SecretKey};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::cancel::CancelRegistry;
use super::connection::Connection;
use super::frame::FrameReader;
use super::interrupt::{Cancel, Stop, interruptible, shutdown};
use super::outbox::Outbox;
use super::service::{QueryService, QuerySession};
use super::startup::{Greeting, greet};
use super::{Failure, Hangup};

/// Connections above the limit that are told so, or bring a cancel request; more are closed at once.
const MAX_REFUSALS: usize = 64;
/// How long a last message may take to leave, and how long what the client still sends is thrown away.
const GOODBYE: Duration = Duration::from_secs(1);
/// Pause after the system refused a connection (no file descriptors left).
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Bounds of the front door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Connections at a time; one more is 53300.
    pub max_connections: usize,
    /// Time until the start-up packet is complete; later the connection is closed.
    pub startup_timeout: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        ConnectionLimits { max_connections: MAX_CONNECTIONS, startup_timeout: Duration::from_millis(STARTUP_TIMEOUT_MS) }
    }
}

/// Serves clients until `stop` becomes true; then running statements end with 57P01. There is no authentication: the configuration
/// allows other addresses than loopback only when asked to.
///
/// # Errors
/// 58030 if the system has no random numbers.
pub async fn serve<S: QueryService>(listener: TcpListener, service: Arc<S>, stop: watch::Receiver<bool>) -> Result<()> {
    serve_with(listener, service, ConnectionLimits::default(), stop).await
}

/// As [`serve`], within `limits`.
///
/// # Errors
/// As [`serve`].
pub async fn serve_with<S: QueryService>(
    listener: TcpListener,
    service: Arc<S>,
    limits: ConnectionLimits,
    stop: watch::Receiver<bool>,
) -> Result<()> {
    let desk = Arc::new(FrontDesk::new(service, limits)?);
    let mut stop = Stop(stop);
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            () = stop.stopped() => break,
            Some(ended) = connections.join_next() => report(ended),
            accepted = listener.accept() => match accepted {
                Ok((socket, _)) => {
                    let Some(place) = desk.place() else { continue };
                    connections.spawn(attend_socket(socket, Arc::clone(&desk), place, stop.clone()));
                }
                Err(error) => {
                    tracing::warn!(target: "millstream", "cannot accept a connection: {error}");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
    drop(listener);
    while let Some(ended) = connections.join_next().await {
        report(ended);
    }
    Ok(())
}

fn report(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended {
        tracing::error!(target: "millstream", "a connection ended in a panic: {error}");
    }
}

/// What all connections share.
pub(super) struct FrontDesk<S> {
    service: Arc<S>,
    pub(super) registry: Arc<CancelRegistry>,
    limits: ConnectionLimits,
    places: Arc<Semaphore>,
    refusals: Arc<Semaphore>,
}

/// A connection's place, given up when dropped.
pub(super) enum Place {
    /// It may have a session.
    Session(#[expect(dead_code, reason = "held until dropped")] OwnedSemaphorePermit),
    /// It may only cancel, or hear that there are too many.
    Refusal(#[expect(dead_code, reason = "held until dropped")] OwnedSemaphorePermit),
}

impl<S: QueryService> FrontDesk<S> {
    pub(super) fn new(service: Arc<S>, limits: ConnectionLimits) -> Result<Self> {
        let places = limits.max_connections.min(Semaphore::MAX_PERMITS);
        Ok(FrontDesk {
            service,
            registry: CancelRegistry::new()?,
            limits,
            places: Arc::new(Semaphore::new(places)),
            refusals: Arc::new(Semaphore::new(MAX_REFUSALS)),
        })
    }

    /// A place for one more connection; `None` if there is not even one to refuse it.
    pub(super) fn place(&self) -> Option<Place> {
        match Arc::clone(&self.places).try_acquire_owned() {
            Ok(permit) => Some(Place::Session(permit)),
            Err(_) => Arc::clone(&self.refusals).try_acquire_owned().ok().map(Place::Refusal),
        }
    }

    /// From the first byte to the session; sends everything up to the first `ReadyForQuery`, which is left to the connection.
    async fn open<R, W>(
        &self,
        reader: &mut FrameReader<R>,
        out: &mut Outbox<W>,
        place: &Place,
        stop: &mut Stop,
    ) -> Result<(S::Session, super::cancel::Registration), Hangup>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let greeting = tokio::select! {
            () = stop.stopped() => return Err(shutdown()),
            greeting = timeout(self.limits.startup_timeout, greet(reader, out)) => greeting.map_err(|_| Hangup::Quietly)??,
        };
        let params = match greeting {
            Greeting::Cancel { process, secret } => {
                self.registry.cancel(process, secret);
                return Err(Hangup::Quietly);
            }
            Greeting::Start(params) => params,
        };
        if matches!(place, Place::Refusal(_)) {
            return Err(Hangup::With(Error::new(SqlState::TOO_MANY_CONNECTIONS, "sorry, too many clients already")));
        }
        let user = params.user.clone();
        let opening = interruptible(reader, stop, &mut Cancel(None), S::open(&self.service, params)).await;
        let session = match opening {
            Ok(opened) => opened.map_err(Hangup::With)?,
            Err(Failure::Connection(hangup)) => return Err(hangup),
            Err(Failure::Statement(error)) => return Err(Hangup::With(error)),
        };
        let registration = self.registry.register().map_err(Hangup::With)?;
        let key = BackendKeyData::new(registration.process, SecretKey::I32(registration.secret));
        welcome(out, &session, &user, key).map_err(Hangup::With)?;
        Ok((session, registration))
    }
}

fn welcome<W: AsyncWrite + Unpin>(out: &mut Outbox<W>, session: &impl QuerySession, user: &str, key: BackendKeyData) -> Result<()> {
    out.send(PgWireBackendMessage::Authentication(Authentication::Ok))?;
    let known = session.parameters();
    let version = format!("15.0 (Millstream {})", env!("CARGO_PKG_VERSION"));
    let defaults = [
        ("server_version", version.as_str()),
        ("server_encoding", "UTF8"),
        ("client_encoding", "UTF8"),
        ("DateStyle", "ISO, MDY"),
        ("IntervalStyle", "postgres"),
        ("TimeZone", "UTC"),
        ("integer_datetimes", "on"),
        ("standard_conforming_strings", "on"),
        ("is_superuser", "on"),
        ("session_authorization", user),
        ("in_hot_standby", "off"),
        ("default_transaction_read_only", "off"),
    ];
    let missing = defaults.iter().filter(|(name, _)| !known.iter().any(|(k, _)| k.eq_ignore_ascii_case(name)));
    let missing: Vec<_> = missing.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    missing.into_iter().chain(known).try_for_each(|(name, value)| out.parameter(name, value))?;
    out.send(PgWireBackendMessage::BackendKeyData(key))
}

async fn attend_socket<S: QueryService>(socket: TcpStream, desk: Arc<FrontDesk<S>>, place: Place, stop: Stop) {
    // Without it answers only wait longer.
    let _ = socket.set_nodelay(true);
    attend(socket, &desk, place, stop).await;
}

/// Sees a connection from its first byte to its last.
pub(super) async fn attend<S, IO>(io: IO, desk: &FrontDesk<S>, place: Place, mut stop: Stop)
where
    S: QueryService,
    IO: AsyncRead + AsyncWrite + Send + 'static,
{
    let (read, write) = tokio::io::split(io);
    let (mut reader, mut out) = (FrameReader::new(read), Outbox::new(write));
    match desk.open(&mut reader, &mut out, &place, &mut stop).await {
        Err(hangup) => goodbye(&mut reader, &mut out, hangup).await,
        Ok((session, registration)) => {
            let mut connection = Connection::new(reader, out, session, registration, stop);
            if let Err(hangup) = connection.serve().await {
                goodbye(&mut connection.reader, &mut connection.out, hangup).await;
            }
        }
    }
}

/// Says why, if there is anything to say. What the client still sends behind a message that was refused is read, or the system would
/// throw the answer away together with it.
async fn goodbye<R, W>(reader: &mut FrameReader<R>, out: &mut Outbox<W>, hangup: Hangup)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let Hangup::With(error) = hangup else { return };
    tracing::debug!(target: "millstream", "connection closed: {error}");
    let last_words = async {
        out.error("FATAL", &error).map_err(Hangup::With)?;
        out.close().await?;
        if error.state() == SqlState::PROTOCOL_VIOLATION { reader.drain().await } else { Ok(()) }
    };
    // Whether the client hears it or not, the connection ends.
    let _ = timeout(GOODBYE, last_words).await;
}
