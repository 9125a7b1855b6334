//! Client of Satchel, long-term memory for language-model agents.
//!
//! [`Satchel`] opens the connection and gives out one generated client for each service of the contract. Every call
//! that they make carries the API key, the project and a deadline, and is repeated where the contract says that this
//! does no harm.
//!
//! ```no_run
//! use satchel_client::Satchel;
//! use satchel_client::api::{allocator::v1::RecallRequest, store::v1::StoreMemoryRequest};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let satchel = Satchel::builder().url("127.0.0.1:50051").build()?;
//! let memory = StoreMemoryRequest {
//!     wing: "billing".into(),
//!     content: "Invoices go out on Mondays.".into(),
//!     ..Default::default()
//! };
//! let stored = satchel.remember(memory).await?;
//! let question = RecallRequest {
//!     query: "When do invoices go out?".into(),
//!     wing: "billing".into(),
//!     budget: 500,
//!     min_revision: stored.revision, // read your own write
//!     ..Default::default()
//! };
//! println!("{}", satchel.recall(question).await?.context);
//! # Ok(())
//! # }
//! ```
//!
//! # Deadlines
//!
//! A unary call ends after the builder's [`timeout`](Builder::timeout), 10 seconds unless told otherwise, or after the
//! one that [`tonic::Request::set_timeout`] gives it; repeats included. A stream has no deadline unless its request
//! sets one. Dropping a call or a stream cancels it.
//!
//! # Repeats
//!
//! Unary calls that the contract calls idempotent, and those marked [`Repeatable`], are tried up to three times while
//! the server is `UNAVAILABLE`. No other error is ever repeated, and no stream: a follower of the change feed goes on
//! from the last revision that it has.
//!
//! # Messages and metadata
//!
//! Clients take messages of up to [`MAX_MESSAGE_BYTES`]: the default of `tonic`, 4 MiB, is less than some answers take.
//! The trailing metadata of a unary call is merged into [`tonic::Response::metadata`]; a stream has it under
//! [`tonic::Streaming::trailers`], an error under [`tonic::Status::metadata`].

mod connection;
mod error;
mod satchel;
mod settings;
mod trace;
pub mod vectors;

#[allow(missing_docs, clippy::all, clippy::pedantic)]
mod stubs {
    tonic::include_proto!("stubs");
}

/// The contracts: messages and clients, generated, one module for each package `satchel.api.*`.
pub use stubs::satchel::api;

pub use connection::{Connection, MAX_MESSAGE_BYTES, Repeatable};
pub use error::Error;
pub use futures_util::TryStreamExt;
pub use satchel::{Builder, Satchel};
pub use settings::InvalidSetting;
pub use trace::spans_of;
pub use {prost_types, tonic, tonic_types};
