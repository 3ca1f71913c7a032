import { describe, expect, test } from 'bun:test';
import { nodeSwarm } from './connect-swarm.ts';
import { parseAddress } from './fetch-node.ts';

describe('the address of a node', () => {
  test.each([
    ['node-1.example:7444', { host: 'node-1.example', port: 7444 }],
    ['127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
    ['[::1]:443', { host: '::1', port: 443 }],
  ])('%s has a host and a port', (address, expected) => {
    expect(parseAddress(address)).toEqual(expected);
  });

  test.each([
    '',
    '7444',
    'host',
    'host:',
    ':1',
    'a:b',
    'host:65536',
    '::1:443',
    'user@host:1',
    'h/x:1',
    'h :1',
    '[]:1',
  ])('%p is refused', (address) => {
    expect(() => parseAddress(address)).toThrow('is not an address of the form host:port');
  });
});

describe('a request to a node', () => {
  test('that takes a connection and says nothing is given up, also if its answer may take long', async () => {
    const mute = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } });
    const place = { address: `127.0.0.1:${mute.port}`, certificate: '', token: 'x', connectMs: 100 };
    const deleted = nodeSwarm(place).deleteInstance({ agent: 'a', instanceKey: 'k' });
    expect(await deleted.catch((error: unknown) => error)).toMatchObject({ code: 'E_CONTROL_CLOSED' });
    mute.stop(true);
  });
});
