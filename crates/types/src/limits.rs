//! Every limit with its name, unit and default.

/// Rows a batch aims at.
pub const BATCH_TARGET_ROWS: usize = 8_192;
/// Time in milliseconds that a buffering operator may keep rows when more input keeps coming.
pub const LINGER_MS: u64 = 10;
/// Time between two ticks that address all jobs, in milliseconds.
pub const TICK_INTERVAL_MS: u64 = 100;
/// Ticks between two checkpoints.
pub const CHECKPOINT_EVERY_TICKS: u32 = 10;
/// Time in milliseconds after which a checkpoint that is not complete is given up.
pub const CHECKPOINT_TIMEOUT_MS: u64 = 60_000;
/// Ticks a job may have under way; more are merged.
pub const MAX_IN_FLIGHT_TICKS: usize = 4;
/// Age in milliseconds at which a reader's hold is taken away (72000).
pub const MAX_HOLD_AGE_MS: u64 = 60_000;
/// Key groups of a job unless it says otherwise; fixed at its first start.
pub const DEFAULT_MAX_PARALLELISM: u32 = 128;
/// Largest number of key groups.
pub const MAX_MAX_PARALLELISM: u32 = 32_768;
/// Key group of state entries that belong to every subtask: no key has it.
pub const ANY_KEY_GROUP: u16 = u16::MAX;
/// Bytes of the network buffer pool of one process.
pub const NETWORK_POOL_BYTES: usize = 64 << 20;
/// Bytes each channel may use at any time whatever the others do (its fixed reserve).
pub const CHANNEL_RESERVE_BYTES: usize = 32 << 10;
/// Bytes queued in one channel beyond which the producer waits even when the pool has room.
pub const CHANNEL_MAX_BYTES: usize = 4 << 20;
/// Elements queued in one channel beyond which the producer waits.
pub const CHANNEL_MAX_BATCHES: usize = 64;
/// Bytes of retained changelog per relation and subtask beyond which the slowest subscriber has to backfill again.
pub const CHANGELOG_RETAINED_BYTES: usize = 64 << 20;
/// Rows of one backfill chunk.
pub const BACKFILL_CHUNK_ROWS: usize = 8_192;
/// Changed groups that an aggregate over append-only input lets wait for the barrier; with more, results go out at once.
pub const GROUP_AGGREGATE_MAX_PENDING: usize = 65_536;
/// Bytes of one row of a source; larger is 54000.
pub const MAX_ROW_BYTES: usize = 16 << 20;
/// Bytes of one message of the SQL wire protocol after authentication; larger is 08P01.
pub const MAX_MESSAGE_BYTES: usize = 16 << 20;
/// Bytes of the start-up message.
pub const MAX_STARTUP_BYTES: usize = 10_000;
/// Milliseconds until the start-up message must be complete; later the connection is closed.
pub const STARTUP_TIMEOUT_MS: u64 = 10_000;
/// Depth of nested expressions and subqueries; deeper is 54001.
pub const MAX_EXPRESSION_DEPTH: usize = 256;
/// Columns of a relation; more is 54011 (PostgreSQL's limit).
pub const MAX_COLUMNS: usize = 1_600;
/// Bytes of an identifier; longer is 42622 (PostgreSQL truncates at 63; silent truncation hides mistakes).
pub const MAX_IDENTIFIER_BYTES: usize = 63;
/// Connections of the SQL front door; one more is 53300.
pub const MAX_CONNECTIONS: usize = 1_000;
/// Bytes of the in-memory DML log; beyond it writers get 53100 until tables catch up.
pub const DML_LOG_MAX_BYTES: usize = 256 << 20;

const _: () = assert!(CHANNEL_RESERVE_BYTES <= CHANNEL_MAX_BYTES && CHANNEL_MAX_BYTES <= NETWORK_POOL_BYTES);
const _: () = assert!(DEFAULT_MAX_PARALLELISM <= MAX_MAX_PARALLELISM && MAX_MAX_PARALLELISM <= u16::MAX as u32);
