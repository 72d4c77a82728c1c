//! What scenarios stand on: the real programs as processes of this machine, on loopback, in folders
//! that are their own.

pub(crate) mod api_server;
pub(crate) mod audit;
pub(crate) mod browser;
pub(crate) mod certificates;
mod changes;
pub(crate) mod clusterctl;
pub(crate) mod components;
pub(crate) mod control_plane;
pub(crate) mod fault_proxy;
pub(crate) mod in_memory;
pub(crate) mod installation;
pub(crate) mod kubeadm_provider;
pub(crate) mod kubeconfig;
pub(crate) mod kwok;
pub(crate) mod managers;
pub(crate) mod peers;
pub(crate) mod ports;
pub(crate) mod process;
mod queue;
pub(crate) mod random;
pub(crate) mod redirect;
pub(crate) mod runner;
pub(crate) mod shared;
pub(crate) mod tls;
pub(crate) mod wait;
pub(crate) mod watchdog;
pub(crate) mod webhook_server;
pub(crate) mod windlass;
pub(crate) mod windlass_conformance;
pub(crate) mod windlass_manager;
