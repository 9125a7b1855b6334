//! Settings that may be wrong: above all addresses, as text names them.

use std::fmt;

use tonic::Status;
use tonic::transport::{Channel, Endpoint};

use crate::connection::prepare;

const SERVICES: [&str; 4] = ["embedder", "store", "index", "allocator"];

/// A setting with which no connection can be made.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidSetting {
    /// This text is no address of Satchel.
    Url(String),
    /// The API key, which is not shown, holds a character that no key has.
    ApiKey,
}

impl fmt::Display for InvalidSetting {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(url) => write!(
                out,
                "{url:?} is no address of Satchel. Use HOST:PORT, or embedder=HOST:PORT,store=HOST:PORT,\
                 index=HOST:PORT,allocator=HOST:PORT."
            ),
            Self::ApiKey => out.write_str(
                "The API key holds more than printable characters, perhaps a line break at its end. Remove it.",
            ),
        }
    }
}

impl std::error::Error for InvalidSetting {}

/// One channel for each service; they share a connection where one address serves all.
#[derive(Debug, Clone)]
pub(crate) struct Channels([Option<Channel>; SERVICES.len()]);

impl Channels {
    /// Prepares the channels; each connects at its first call.
    ///
    /// `url` is `HOST:PORT`, or `SERVICE=HOST:PORT` joined by commas; services that are not named cannot be called.
    pub(crate) fn open(url: &str) -> Result<Self, InvalidSetting> {
        let invalid = || InvalidSetting::Url(url.into());
        let mut channels = [const { None }; SERVICES.len()];
        if url.contains('=') {
            for part in url.split(',') {
                let (name, address) = part.split_once('=').ok_or_else(invalid)?;
                let place = SERVICES.iter().position(|service| *service == name.trim()).ok_or_else(invalid)?;
                channels[place] = Some(channel(address.trim()).ok_or_else(invalid)?);
            }
        } else {
            channels.fill(Some(channel(url.trim()).ok_or_else(invalid)?));
        }
        Ok(Self(channels))
    }

    /// Returns the channel for an RPC: that of the service in `/satchel.api.SERVICE.v1.X/Y`, and the store's for any
    /// other contract, such as `grpc.health.v1`.
    pub(crate) fn of(&self, path: &str) -> Result<Channel, Status> {
        let part = path.strip_prefix("/satchel.api.").and_then(|rest| rest.split('.').next()).unwrap_or("store");
        SERVICES.iter().position(|service| *service == part).and_then(|place| self.0[place].clone()).ok_or_else(|| {
            Status::failed_precondition(format!("No address of the {part} was given. Add {part}=HOST:PORT."))
        })
    }
}

fn channel(address: &str) -> Option<Channel> {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).ok()?;
    let complete = endpoint.uri().port_u16().is_some() && endpoint.uri().path() == "/" && !address.contains('/');
    complete.then(|| prepare(endpoint).connect_lazy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_address_serves_every_service() {
        let channels = Channels::open("127.0.0.1:50051").unwrap();

        for service in SERVICES {
            assert!(channels.of(&format!("/satchel.api.{service}.v1.Any/Call")).is_ok());
        }
        assert!(channels.of("/grpc.health.v1.Health/Check").is_ok());
    }

    #[tokio::test]
    async fn a_service_without_an_address_is_named_when_it_is_called() {
        let channels = Channels::open("store=127.0.0.1:50063, allocator=[::1]:50064").unwrap();

        assert!(channels.of("/satchel.api.store.v1.MemoryService/GetMemory").is_ok());
        let refused = channels.of("/satchel.api.index.v1.IndexService/SearchVectors").unwrap_err();
        assert_eq!(refused.code(), tonic::Code::FailedPrecondition);
        assert!(refused.message().contains("index=HOST:PORT"));
    }

    #[tokio::test]
    async fn what_is_no_address_is_refused_with_the_form_to_use() {
        for text in
            ["", "localhost", "http://127.0.0.1:1", "127.0.0.1:1/path", "shelf=127.0.0.1:1", "store=127.0.0.1:1,here"]
        {
            let refused = Channels::open(text).unwrap_err();
            assert!(refused.to_string().contains("HOST:PORT"), "{text}");
        }
    }
}
