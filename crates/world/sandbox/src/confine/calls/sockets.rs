//! Rules for sockets: the socket families and types that a program may use decide which peers it can reach.

use seccompiler::{SeccompCmpOp, SeccompRule};

use super::{Condition, Result, Rules, is_given, rule};
use crate::Network;

/// The bits of a socket's type argument that contain the type. The others are flags.
const TYPE_MASK: u64 = 0xf;

/// Returns the rules for one kind of network access.
pub(super) fn refused(network: Network) -> Result<Rules> {
    let families: &[i32] = match network {
        Network::On => return Ok(Rules::new()),
        Network::Off | Network::Unix => &[libc::AF_UNIX],
        Network::Loopback | Network::Only => &[libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK],
    };
    let others = families.iter().map(|family| (0, SeccompCmpOp::Ne, u64::from(family.unsigned_abs())));
    let mut socket = vec![rule(others)?];
    let mut rules = Rules::new();
    if network != Network::Unix {
        socket.extend(without_connection()?);
        rules.insert(libc::SYS_socketpair, without_connection()?);
    }
    if network == Network::Off {
        // A socket file leads to any service that listens there, for example a service manager that starts programs
        // outside.
        rules.insert(libc::SYS_connect, Vec::new());
        rules.insert(libc::SYS_sendto, vec![SeccompRule::new(vec![is_given(4)?])?]);
    }
    rules.insert(libc::SYS_socket, socket);
    Ok(rules)
}

/// Returns rules for sockets that are refused as if the kernel did not support them. ZeroMQ lists the network interfaces
/// over such a socket, and ends the whole program on any other error.
pub(super) fn unsupported(network: Network) -> Result<Rules> {
    match network {
        Network::Off | Network::Unix => {
            let netlink = rule([(0, SeccompCmpOp::Eq, u64::from(libc::AF_NETLINK.unsigned_abs()))])?;
            Ok(Rules::from([(libc::SYS_socket, vec![netlink])]))
        }
        Network::Loopback | Network::Only | Network::On => Ok(Rules::new()),
    }
}

/// Returns rules that refuse Unix sockets of every type except the two with connections. With the other types a message
/// can be sent to any path, even from a socket pair, and a filter cannot read the address. The kernel treats `SOCK_RAW`
/// as a datagram socket too.
fn without_connection() -> Result<Vec<SeccompRule>> {
    let connected = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET].map(|kind| u64::from(kind.unsigned_abs()));
    let kinds = (0..=TYPE_MASK).filter(|kind| !connected.contains(kind));
    kinds.map(|kind| rule([(1, SeccompCmpOp::MaskedEq(TYPE_MASK), kind), of_unix()])).collect()
}

fn of_unix() -> Condition {
    (0, SeccompCmpOp::Eq, u64::from(libc::AF_UNIX.unsigned_abs()))
}
