import { describe, expect, test } from 'bun:test';
import { isAllowedAddress, namesHost } from './host-patterns.ts';
import { isPublicAddress } from './is-public-address.ts';

describe('an address', () => {
  test.each([
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '10.255.255.255',
    '100.64.0.1',
    '100.100.100.200',
    '100.127.255.255',
    '127.0.0.1',
    '127.255.255.254',
    '168.63.129.16',
    '169.254.169.254',
    '169.254.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.0.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::ffff:0:7f00:1',
    '64:ff9b::7f00:1',
    '64:ff9b::8.8.8.8',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:0:7f00:1::',
    '2001:10::1',
    '2001:20::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '2002:0808:0808::1',
    '3fff::1',
    '4000::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    '2a00::1%eth0',
    'fec0::1',
    'ff02::1',
    'localhost',
    '',
    '1.1.1',
  ])('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.1',
    '169.253.255.255',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '192.169.0.0',
    '223.255.255.255',
    '2001:4860:4860::8888',
    '2606:4700:4700::1111',
    '2a00:1450:4001::1',
  ])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

describe('the addresses that a bundle allows', () => {
  test.each<[string, string, boolean]>([
    ['10.0.0.0/8', '10.1.2.3', true],
    ['10.0.0.0/8', '11.1.2.3', false],
    ['0.0.0.0/0', '10.1.2.3', true],
    ['127.0.0.1', '127.0.0.1', true],
    ['127.0.0.1', '127.0.0.2', false],
    ['fd00::/8', 'fd12::1', true],
    ['fd00::/8', 'fe80::1', false],
    ['fe80::/10', 'fe80::1%eth0', false],
    ['10.0.0.0/99', '10.0.0.1', false],
    ['10.0.0.0/x', '10.0.0.1', false],
    ['localhost', '127.0.0.1', false],
  ])('%s and the address %s: %p', (pattern, address, isAllowed) => {
    expect(isAllowedAddress([pattern], address)).toBe(isAllowed);
  });

  test.each<[string, string, boolean]>([
    ['example.com', 'example.com', true],
    ['Example.COM', 'example.com', true],
    ['example.com', 'www.example.com', false],
    ['example.com', 'example.com.evil.test', false],
    ['*.example.com', 'www.example.com', true],
    ['*.example.com', 'a.b.example.com', true],
    ['*.example.com', 'example.com', false],
    ['*.example.com', 'evilexample.com', false],
  ])('%s and the host %s: %p', (pattern, host, isNamed) => {
    expect(namesHost(pattern, host)).toBe(isNamed);
  });
});
