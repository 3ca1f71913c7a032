/**
 * Tells whether an address is public. These addresses are not public: this machine, its network, a cloud provider's
 * network with its metadata services, and addresses that are not hosts. Only the public ranges of IPv6 are allowed, so
 * an IPv4 address cannot be hidden in an unlisted IPv6 form.
 */
import { BlockList, isIPv4, isIPv6 } from 'node:net';

export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !ownOfVersion4.check(address, 'ipv4');
  // An address with a zone is link-local.
  if (!isIPv6(address) || address.includes('%')) return false;
  return publicOfVersion6.check(address, 'ipv6') && !ownOfVersion6.check(address, 'ipv6');
}

export function blockListOf(
  subnets: readonly (readonly [address: string, prefix: number])[],
  family: 'ipv4' | 'ipv6',
): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of subnets) list.addSubnet(address, prefix, family);
  return list;
}

const ownOfVersion4 = blockListOf(
  [
    ['0.0.0.0', 8], // this network
    ['10.0.0.0', 8], // private
    ['100.64.0.0', 10], // shared by providers, also for metadata
    ['127.0.0.0', 8], // this machine
    ['168.63.129.16', 32], // a metadata service with an address that looks public
    ['169.254.0.0', 16], // link-local, also for metadata
    ['172.16.0.0', 12], // private
    ['192.0.0.0', 24], // IETF protocol assignments
    ['192.0.2.0', 24], // documentation
    ['192.88.99.0', 24], // 6to4 relays
    ['192.168.0.0', 16], // private
    ['198.18.0.0', 15], // benchmarks
    ['198.51.100.0', 24], // documentation
    ['203.0.113.0', 24], // documentation
    ['224.0.0.0', 4], // multicast
    ['240.0.0.0', 4], // reserved, broadcast
  ],
  'ipv4',
);

const publicOfVersion6 = blockListOf([['2000::', 3]], 'ipv6');

const ownOfVersion6 = blockListOf(
  [
    ['2001::', 23], // protocols, among them tunnels that hold an IPv4 address
    ['2001:db8::', 32], // documentation
    ['2002::', 16], // tunnels that hold an IPv4 address
    ['3fff::', 20], // documentation
  ],
  'ipv6',
);
