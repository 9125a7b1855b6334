//! Generates the stubs, and a table of what the contract says of each RPC, from the committed descriptor set.
//!
//! The set holds the contracts with everything that they import, so no `protoc` is needed.

use std::error::Error;
use std::fmt::Write;
use std::{env, fs, path::Path};

use prost::Message;
use prost_types::method_options::IdempotencyLevel;
use prost_types::{FileDescriptorSet, MethodDescriptorProto};

const DESCRIPTORS: &str = "../../proto/python/src/satchel/api/descriptors.binpb";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={DESCRIPTORS}");
    println!("cargo:rerun-if-changed=build.rs");
    let bytes = fs::read(DESCRIPTORS).map_err(|cause| format!("{DESCRIPTORS}: {cause}"))?;
    let set = FileDescriptorSet::decode(bytes.as_slice())?;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("methods.rs"), method_table(&set)?)?;
    generate_stubs(set)?;
    Ok(())
}

/// Writes messages and clients. Those of `google.protobuf` and `google.rpc` come from crates; what is
/// only for the annotations of fields and methods is left out.
fn generate_stubs(mut set: FileDescriptorSet) -> std::io::Result<()> {
    set.file.retain(|file| !["google.api", "satchel.api.options.v1"].contains(&file.package()));
    tonic_prost_build::configure()
        .build_server(false)
        .build_transport(false)
        .extern_path(".google.rpc", "::tonic_types::pb")
        .include_file("stubs.rs")
        .compile_fds(set)
}

/// Returns Rust text that lists the RPCs, sorted by path.
fn method_table(set: &FileDescriptorSet) -> Result<String, std::fmt::Error> {
    let mut rows = Vec::new();
    for file in &set.file {
        for service in &file.service {
            let path =
                |method: &MethodDescriptorProto| format!("/{}.{}/{}", file.package(), service.name(), method.name());
            rows.extend(service.method.iter().map(|method| (path(method), method)));
        }
    }
    rows.sort_by(|left, right| left.0.cmp(&right.0));
    let mut text = String::from("const METHODS: &[Method] = &[\n");
    for (path, method) in rows {
        let streaming = method.client_streaming() || method.server_streaming();
        let idempotent = is_idempotent(method);
        writeln!(text, "    Method {{ path: {path:?}, streaming: {streaming}, idempotent: {idempotent} }},")?;
    }
    text.push_str("];\n");
    Ok(text)
}

fn is_idempotent(method: &MethodDescriptorProto) -> bool {
    let level = method.options.as_ref().map(prost_types::MethodOptions::idempotency_level);
    level.is_some_and(|level| level != IdempotencyLevel::IdempotencyUnknown)
}
