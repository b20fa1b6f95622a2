//! The one error type: what a client sees, as a value. PostgreSQL's SQLSTATE codes (appendix A of its manual).

use std::fmt;

use serde::{Deserialize, Serialize};

/// Result with Millstream's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A five character SQLSTATE, as in PostgreSQL's appendix A.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SqlState([u8; 5]);

macro_rules! states {
    ($($(#[$doc:meta])* $name:ident = $code:literal;)*) => {
        impl SqlState { $($(#[$doc])* pub const $name: SqlState = SqlState(*$code);)* }
    };
}

states! {
    /// `08P01`: the client broke the wire protocol.
    PROTOCOL_VIOLATION = b"08P01";
    /// `0A000`: a feature that is not there.
    FEATURE_NOT_SUPPORTED = b"0A000";
    /// `21000`: a scalar subquery returned more than one row, or ON CONFLICT hit one row twice.
    CARDINALITY_VIOLATION = b"21000";
    /// `22000`: other data exception.
    DATA_EXCEPTION = b"22000";
    /// `22003`: a number does not fit its type.
    NUMERIC_VALUE_OUT_OF_RANGE = b"22003";
    /// `22007`: a date or time that cannot be read.
    INVALID_DATETIME_FORMAT = b"22007";
    /// `22008`: a date or time outside its range.
    DATETIME_FIELD_OVERFLOW = b"22008";
    /// `22012`: division by zero.
    DIVISION_BY_ZERO = b"22012";
    /// `22021`: a character that the encoding forbids (NUL in text).
    CHARACTER_NOT_IN_REPERTOIRE = b"22021";
    /// `22023`: a parameter or option with a wrong value.
    INVALID_PARAMETER_VALUE = b"22023";
    /// `22P02`: text that is no value of the type.
    INVALID_TEXT_REPRESENTATION = b"22P02";
    /// `22P04`: a malformed row in a file.
    BAD_COPY_FILE_FORMAT = b"22P04";
    /// `23502`: NULL in a NOT NULL column.
    NOT_NULL_VIOLATION = b"23502";
    /// `23505`: duplicate key.
    UNIQUE_VIOLATION = b"23505";
    /// `25001`: not inside a transaction block.
    ACTIVE_SQL_TRANSACTION = b"25001";
    /// `25P01`: there is no transaction.
    NO_ACTIVE_SQL_TRANSACTION = b"25P01";
    /// `25P02`: the transaction failed; only ROLLBACK is possible.
    IN_FAILED_SQL_TRANSACTION = b"25P02";
    /// `26000`: no such prepared statement.
    INVALID_SQL_STATEMENT_NAME = b"26000";
    /// `2BP01`: others depend on the object.
    DEPENDENT_OBJECTS_STILL_EXIST = b"2BP01";
    /// `34000`: no such cursor.
    INVALID_CURSOR_NAME = b"34000";
    /// `3D000`: no such database.
    INVALID_CATALOG_NAME = b"3D000";
    /// `3F000`: no such schema.
    INVALID_SCHEMA_NAME = b"3F000";
    /// `40001`: another transaction committed a conflicting change first.
    SERIALIZATION_FAILURE = b"40001";
    /// `42501`: not allowed.
    INSUFFICIENT_PRIVILEGE = b"42501";
    /// `42601`: syntax error.
    SYNTAX_ERROR = b"42601";
    /// `42602`: a name that is no name.
    INVALID_NAME = b"42602";
    /// `42622`: identifier too long.
    NAME_TOO_LONG = b"42622";
    /// `42701`: duplicate column.
    DUPLICATE_COLUMN = b"42701";
    /// `42702`: ambiguous column.
    AMBIGUOUS_COLUMN = b"42702";
    /// `42703`: no such column.
    UNDEFINED_COLUMN = b"42703";
    /// `42704`: no such object (type, option, setting, job).
    UNDEFINED_OBJECT = b"42704";
    /// `42710`: duplicate object.
    DUPLICATE_OBJECT = b"42710";
    /// `42712`: duplicate alias.
    DUPLICATE_ALIAS = b"42712";
    /// `42723`: duplicate function.
    DUPLICATE_FUNCTION = b"42723";
    /// `42725`: ambiguous function.
    AMBIGUOUS_FUNCTION = b"42725";
    /// `42803`: a column that is neither grouped nor aggregated.
    GROUPING_ERROR = b"42803";
    /// `42804`: wrong type.
    DATATYPE_MISMATCH = b"42804";
    /// `42809`: the object is of another kind.
    WRONG_OBJECT_TYPE = b"42809";
    /// `42830`: invalid foreign key or key reference.
    INVALID_FOREIGN_KEY = b"42830";
    /// `42846`: no such cast.
    CANNOT_COERCE = b"42846";
    /// `42883`: no such function or operator.
    UNDEFINED_FUNCTION = b"42883";
    /// `42P01`: no such relation.
    UNDEFINED_TABLE = b"42P01";
    /// `42P02`: no such parameter.
    UNDEFINED_PARAMETER = b"42P02";
    /// `42P04`: the database exists.
    DUPLICATE_DATABASE = b"42P04";
    /// `42P06`: the schema exists.
    DUPLICATE_SCHEMA = b"42P06";
    /// `42P07`: the relation exists.
    DUPLICATE_TABLE = b"42P07";
    /// `42P10`: no such column in the select list, or no such conflict target.
    INVALID_COLUMN_REFERENCE = b"42P10";
    /// `42P16`: a table definition that makes no sense.
    INVALID_TABLE_DEFINITION = b"42P16";
    /// `42P17`: an object definition that makes no sense.
    INVALID_OBJECT_DEFINITION = b"42P17";
    /// `42P18`: a parameter or column of unknown type.
    INDETERMINATE_DATATYPE = b"42P18";
    /// `53100`: disk or log full.
    DISK_FULL = b"53100";
    /// `53200`: out of the memory that was allowed.
    OUT_OF_MEMORY = b"53200";
    /// `53300`: too many connections.
    TOO_MANY_CONNECTIONS = b"53300";
    /// `53400`: a configured limit is reached.
    CONFIGURATION_LIMIT_EXCEEDED = b"53400";
    /// `54000`: a program limit is reached.
    PROGRAM_LIMIT_EXCEEDED = b"54000";
    /// `54001`: statement too complex.
    STATEMENT_TOO_COMPLEX = b"54001";
    /// `54011`: too many columns.
    TOO_MANY_COLUMNS = b"54011";
    /// `55000`: the object is not in the state that this needs (a job that is not running).
    OBJECT_NOT_IN_PREREQUISITE_STATE = b"55000";
    /// `55006`: object in use.
    OBJECT_IN_USE = b"55006";
    /// `57014`: cancelled by the user.
    QUERY_CANCELED = b"57014";
    /// `57P01`: the server shuts down.
    ADMIN_SHUTDOWN = b"57P01";
    /// `58030`: input or output failed.
    IO_ERROR = b"58030";
    /// `58P01`: no such file.
    UNDEFINED_FILE = b"58P01";
    /// `72000`: the snapshot is too old.
    SNAPSHOT_TOO_OLD = b"72000";
    /// `F0000`: the configuration file or an option is wrong.
    CONFIG_FILE_ERROR = b"F0000";
    /// `XX000`: a bug of ours.
    INTERNAL_ERROR = b"XX000";
    /// `XX001`: stored data do not pass their check.
    DATA_CORRUPTED = b"XX001";
}

impl SqlState {
    /// The five characters.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("XX000")
    }

    /// A code from its five characters; `None` if it is not five ASCII letters or digits.
    pub fn from_code(code: &str) -> Option<SqlState> {
        let bytes: [u8; 5] = code.as_bytes().try_into().ok()?;
        bytes.iter().all(u8::is_ascii_alphanumeric).then_some(SqlState(bytes))
    }
}

impl fmt::Debug for SqlState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for SqlState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for SqlState {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for SqlState {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let code = String::deserialize(d)?;
        SqlState::from_code(&code).ok_or_else(|| serde::de::Error::custom("a SQLSTATE has five letters or digits"))
    }
}

/// An error as the client sees it: SQLSTATE, a primary line in lower case without a full stop, and optionally a detail with the failing
/// thing, a hint with the way out, and the position in the statement (1-based, in characters).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Error(Box<Report>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Report {
    state: SqlState,
    message: String,
    detail: Option<String>,
    hint: Option<String>,
    position: Option<u32>,
}

impl Error {
    /// An error with its primary line.
    pub fn new(state: SqlState, message: impl Into<String>) -> Self {
        Error(Box::new(Report { state, message: message.into(), detail: None, hint: None, position: None }))
    }

    /// `0A000`: `what` (a construct's name) is not there.
    pub fn unsupported(what: impl fmt::Display) -> Self {
        Self::new(SqlState::FEATURE_NOT_SUPPORTED, format!("{what} is not supported"))
    }

    /// `XX000`: something that cannot happen did.
    pub fn internal(what: impl fmt::Display) -> Self {
        Self::new(SqlState::INTERNAL_ERROR, what.to_string())
            .with_hint("this is a bug in Millstream: please report it with the statement that caused it")
    }

    /// Adds the failing thing.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    /// Adds the way out.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Adds the position in the statement's text (1-based, in characters).
    #[must_use]
    pub fn with_position(mut self, position: u32) -> Self {
        self.0.position = Some(position);
        self
    }

    /// Puts `context: ` before the primary line, for errors that come from deeper down.
    #[must_use]
    pub fn context(mut self, context: impl fmt::Display) -> Self {
        self.0.message = format!("{context}: {}", self.0.message);
        self
    }

    /// The SQLSTATE.
    pub fn state(&self) -> SqlState {
        self.0.state
    }
    /// The primary line.
    pub fn message(&self) -> &str {
        &self.0.message
    }
    /// The failing thing.
    pub fn detail(&self) -> Option<&str> {
        self.0.detail.as_deref()
    }
    /// The way out.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }
    /// Where in the statement, 1-based, in characters.
    pub fn position(&self) -> Option<u32> {
        self.0.position
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (SQLSTATE {})", self.0.message, self.0.state)?;
        if let Some(detail) = &self.0.detail {
            write!(f, "; {detail}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

impl From<arrow::error::ArrowError> for Error {
    /// Value errors of Arrow's checked kernels become PostgreSQL's; anything else is a bug of ours. An [`Error`] that travelled inside
    /// an Arrow error comes back out as it was.
    fn from(e: arrow::error::ArrowError) -> Self {
        use arrow::error::ArrowError as A;
        match e {
            A::DivideByZero => Error::new(SqlState::DIVISION_BY_ZERO, "division by zero"),
            A::ArithmeticOverflow(m) => Error::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range").with_detail(m),
            A::ExternalError(inner) => match inner.downcast::<Error>() {
                Ok(own) => *own,
                Err(other) => Error::internal(other),
            },
            A::IoError(m, _) => Error::new(SqlState::IO_ERROR, m),
            other => Error::internal(other),
        }
    }
}

impl From<Error> for arrow::error::ArrowError {
    fn from(e: Error) -> Self {
        arrow::error::ArrowError::ExternalError(Box::new(e))
    }
}

impl From<std::io::Error> for Error {
    fn from(e: std::io::Error) -> Self {
        use std::io::ErrorKind as K;
        let state = match e.kind() {
            K::NotFound => SqlState::UNDEFINED_FILE,
            K::PermissionDenied => SqlState::INSUFFICIENT_PRIVILEGE,
            K::StorageFull | K::QuotaExceeded => SqlState::DISK_FULL,
            _ => SqlState::IO_ERROR,
        };
        Error::new(state, e.to_string().to_lowercase())
    }
}
