//! The spans that a server sends back.

use prost::Message;
use tonic::metadata::MetadataMap;

use crate::api::types::v1::TraceSpans;

/// Reads the spans of a call that was sent with the metadata `satchel-trace: 1`, from the metadata of its response or
/// of its [`Status`](tonic::Status). `None` when there are none.
///
/// ```no_run
/// use satchel_client::{Error, Satchel, api::allocator::v1::GetStatusRequest, spans_of, tonic::Request};
///
/// # async fn show(satchel: Satchel) -> Result<(), Error> {
/// let mut request = Request::new(GetStatusRequest::default());
/// request.metadata_mut().insert("satchel-trace", "1".parse().expect("a digit is a value"));
/// let answer = satchel.allocator().get_status(request).await?;
/// for span in spans_of(answer.metadata()).unwrap_or_default().spans {
///     println!("{} took {:?}", span.name, span.duration);
/// }
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn spans_of(metadata: &MetadataMap) -> Option<TraceSpans> {
    TraceSpans::decode(metadata.get_bin("satchel-spans-bin")?.to_bytes().ok()?).ok()
}
