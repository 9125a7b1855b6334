//! Failed calls, decoded.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use prost::Message;
use tonic::{Code, Status};
use tonic_types::{ErrorInfo, StatusExt, pb};

use crate::api::errors::v1::ErrorReason;

/// A failed call: its gRPC code, and the reason and metadata that Satchel gave for it.
///
/// It is made from the [`Status`] of a call, so `?` does it, and from the `google.rpc.Status` with which one record of
/// a stream is refused.
///
/// ```
/// use satchel_client::{Error, api::errors::v1::ErrorReason, tonic::Code};
///
/// fn advice(error: &Error) -> String {
///     match (error.code(), error.reason()) {
///         (_, ErrorReason::MemoryNotFound) => format!("{} is gone", error.metadata()["memory_id"]),
///         (Code::InvalidArgument, _) => error.metadata().get("remedy").cloned().unwrap_or_default(),
///         _ => error.to_string(),
///     }
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Error {
    status: Status,
    info: ErrorInfo,
}

impl Error {
    /// The gRPC code.
    #[must_use]
    pub fn code(&self) -> Code {
        self.status.code()
    }

    /// What happened, as a sentence.
    #[must_use]
    pub fn message(&self) -> &str {
        self.status.message()
    }

    /// The published reason; unspecified when the error is not Satchel's own, or newer than this client. Then
    /// [`info`](Self::info) has the name, if any.
    #[must_use]
    pub fn reason(&self) -> ErrorReason {
        ErrorReason::from_str_name(&self.info.reason).unwrap_or_default()
    }

    /// What the reason's comment in the contract lists, such as `field` and `remedy`. Empty for an error that is not
    /// Satchel's own.
    #[must_use]
    pub fn metadata(&self) -> &HashMap<String, String> {
        &self.info.metadata
    }

    /// The `google.rpc.ErrorInfo` as it came. `None` when gRPC itself made the error, such as for a lost connection.
    #[must_use]
    pub fn info(&self) -> Option<&ErrorInfo> {
        (!self.info.reason.is_empty()).then_some(&self.info)
    }

    /// How long to wait before the next try, when the server says so (`ErrorReason::Overloaded`).
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.status.get_details_retry_info()?.retry_delay
    }

    /// The status as `tonic` gave it, with the trailing metadata of the call.
    #[must_use]
    pub fn status(&self) -> &Status {
        &self.status
    }
}

impl From<Status> for Error {
    fn from(status: Status) -> Self {
        let info = status.get_details_error_info().unwrap_or_else(|| ErrorInfo::new("", "", []));
        Self { status, info }
    }
}

impl From<pb::Status> for Error {
    fn from(status: pb::Status) -> Self {
        let details = status.encode_to_vec().into();
        Status::with_details(Code::from(status.code), status.message, details).into()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ({:?}", self.message(), self.code())?;
        self.info().map_or(Ok(()), |info| write!(out, ", {}", info.reason))?;
        out.write_str(")")
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.status)
    }
}

#[cfg(test)]
mod tests {
    use tonic_types::ErrorDetails;

    use super::*;

    fn refusal(reason: &str) -> Status {
        let metadata = HashMap::from([("memory_id".to_owned(), "7".to_owned())]);
        let mut details = ErrorDetails::with_error_info(reason, "satchel", metadata);
        details.set_retry_info(Some(Duration::from_millis(250)));
        Status::with_error_details(Code::NotFound, "No memory has this id.", details)
    }

    #[test]
    fn a_status_gives_code_reason_metadata_and_pause() {
        let error = Error::from(refusal("ERROR_REASON_MEMORY_NOT_FOUND"));

        assert_eq!(error.code(), Code::NotFound);
        assert_eq!(error.reason(), ErrorReason::MemoryNotFound);
        assert_eq!(error.metadata()["memory_id"], "7");
        assert_eq!(error.info().unwrap().domain, "satchel");
        assert_eq!(error.retry_after(), Some(Duration::from_millis(250)));
        assert_eq!(error.to_string(), "No memory has this id. (NotFound, ERROR_REASON_MEMORY_NOT_FOUND)");
    }

    #[test]
    fn a_reason_newer_than_the_client_keeps_its_name() {
        let error = Error::from(refusal("ERROR_REASON_OF_TOMORROW"));

        assert_eq!(error.reason(), ErrorReason::Unspecified);
        assert_eq!(error.info().unwrap().reason, "ERROR_REASON_OF_TOMORROW");
    }

    #[test]
    fn the_error_of_a_record_reads_like_that_of_a_call() {
        let sent = refusal("ERROR_REASON_MEMORY_NOT_FOUND");
        let record = pb::Status::decode(sent.details()).unwrap();

        let error = Error::from(record);

        assert_eq!((error.code(), error.reason()), (Code::NotFound, ErrorReason::MemoryNotFound));
    }

    #[test]
    fn an_error_of_grpc_itself_has_no_info() {
        let error = Error::from(Status::unavailable("Nobody listens."));

        assert_eq!(error.reason(), ErrorReason::Unspecified);
        assert!(error.info().is_none() && error.metadata().is_empty());
    }
}
