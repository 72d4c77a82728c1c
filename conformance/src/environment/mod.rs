//! What a run starts and installs: a control plane, the provider's process, components.

pub(crate) mod components;
pub(crate) mod plane;
pub(crate) mod process;

/// A port of loopback that was free a moment ago.
///
/// # Errors
/// The message for the user, if there is none.
pub(crate) fn free_port() -> Result<u16, String> {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0));
    let address = listener.and_then(|listener| listener.local_addr());
    address
        .map(|address| address.port())
        .map_err(|error| format!("no free port on 127.0.0.1: {error}"))
}
