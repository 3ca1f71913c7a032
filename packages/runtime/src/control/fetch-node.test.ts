import { describe, expect, test } from 'bun:test';
import { openCertificate } from '../orchestrator/control/node-certificate.ts';
import { nodeSwarm } from './connect-swarm.ts';
import type { NodePlace } from './control-socket.ts';
import { fetchNode, parseAddress, RELAYED_BY } from './fetch-node.ts';

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

  /** Sends a request to a server with a certificate of its own. */
  async function send(answer: (request: Request) => Promise<Response>, place: Partial<NodePlace>): Promise<Response> {
    const { certificate: cert, key, fingerprint: certificate } = openCertificate('two', new Date());
    const server = Bun.serve({ hostname: '127.0.0.1', port: 0, tls: { cert, key }, fetch: answer });
    try {
      const address = `127.0.0.1:${server.port}`;
      const { signal } = new AbortController();
      const request = { method: 'GET', headers: {}, signal };
      return await fetchNode({ address, certificate, token: 'x', ...place }, new URL('http://node/'), request);
    } finally {
      void server.stop();
    }
  }

  test('that is answered later than a connection may take is not given up', async () => {
    const answer = () => Bun.sleep(1_500).then(() => new Response('late'));
    expect(await (await send(answer, { connectMs: 1_000 })).text()).toBe('late');
  });

  test('names the relaying node, whose name cannot add a header', async () => {
    const relayedBy = 'näme\r\nX-More: 1';
    const received: unknown[] = [];
    await send(
      async ({ headers }) => {
        received.push(decodeURIComponent(headers.get(RELAYED_BY) ?? ''), headers.has('x-more'));
        return new Response('ok');
      },
      { relayedBy },
    );
    expect(received).toEqual([relayedBy, false]);
  });
});
