import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '@goondan/types';
import type { DeclaredAgent } from './declared-agent.ts';
import { endedConnections, keptExtensions } from './kept-extension.ts';

const transport = { type: 'stdio', command: 'serve', args: ['${TOKEN}', '${OTHER:-none}'] };
const stateful = { attach: { mode: 'stateful' } };

function agent(config: JsonObject, more: Partial<DeclaredAgent> = {}): DeclaredAgent {
  const extension = {
    resource: {
      apiVersion: 'goondan.ai/v1',
      kind: 'Extension' as const,
      metadata: { name: 'files' },
      spec: { entry: './mcp.ts', config },
    },
    root: '/base',
    keeper: { entry: './keep.ts' },
  };
  return { agentName: 'a', models: {}, extensions: [extension], ...more };
}

const digestOf = (config: JsonObject, more?: Partial<DeclaredAgent>) => keptExtensions(agent(config, more))[0]?.digest;

describe('a kept connection', () => {
  test('L-02 is only one whose config writes attach.mode stateful, of an extension with a keeper', () => {
    expect(keptExtensions(agent({ transport }))).toEqual([]);
    expect(keptExtensions(agent({ transport, attach: { scope: 'instance' } }))).toEqual([]);
    expect(keptExtensions(agent({ transport, attach: { mode: 'stateless' } }))).toEqual([]);
    expect(keptExtensions(agent({ transport, ...stateful }))).toMatchObject([{ name: 'files', scope: 'instance' }]);
    expect(keptExtensions(agent({ attach: { mode: 'stateful', scope: 'agent' } }))).toMatchObject([{ scope: 'agent' }]);
    const [extension] = agent({ transport, ...stateful }).extensions ?? [];
    const { keeper: _, ...without } = extension ?? {};
    expect(keptExtensions({ agentName: 'a', models: {}, extensions: [without as never] })).toEqual([]);
  });

  test('L-02 is another one exactly when transport, fromFile, attach or expose change, or a variable that they use', () => {
    const environment = { TOKEN: 'one', UNUSED: 'one' };
    const digest = digestOf({ transport, ...stateful }, { environment });
    const same: [JsonObject, Partial<DeclaredAgent>?][] = [
      [{ transport, ...stateful, timeouts: { callMs: 1 }, trust: 'any', required: true, maxResultCharacters: 9 }],
      [{ ...stateful, transport: { ...transport } }],
      [{ transport, ...stateful }, { environment: { ...environment, UNUSED: 'two' } }],
      [{ transport, ...stateful }, { environment: { ...environment, 'A(B': 'any name' } }],
      [
        { transport, ...stateful },
        { environment, systemPrompt: 'Hi.', workdir: '/else' },
      ],
    ];
    for (const [config, more = { environment }] of same) expect(digestOf(config, more)).toBe(digest);
    const others: [JsonObject, Partial<DeclaredAgent>?][] = [
      [{ ...stateful, transport: { ...transport, args: [] } }],
      [{ transport, ...stateful, expose: { resources: true } }],
      [{ transport, attach: { mode: 'stateful', scope: 'agent' } }],
      [{ ...stateful, fromFile: { server: 'x' } }],
      [{ transport, ...stateful }, { environment: { ...environment, TOKEN: 'two' } }],
      [{ transport, ...stateful }, { environment: { ...environment, OTHER: 'set' } }],
      [{ transport, ...stateful }, { environment: { ...environment, PATH: '/bin' } }],
      [{ transport, ...stateful }, { environment: { ...environment, SSL_CERT_FILE: '/ca.pem' } }],
    ];
    for (const [config, more = { environment }] of others) expect(digestOf(config, more)).not.toBe(digest);
    const ended = (config: JsonObject) => endedConnections(agent({ transport, ...stateful }), agent(config));
    expect(ended({ transport, ...stateful, trust: 'any' })).toEqual([]);
    expect(ended({ ...stateful, transport: { ...transport, args: [] } })).toEqual(['files']);
    expect(ended({ transport })).toEqual(['files']);
    // The keeper follows the variables and the working folder that an entry of a file uses.
    const fromFile = { ...stateful, fromFile: {} };
    const ofFile = digestOf(fromFile, { environment });
    expect(digestOf(fromFile, { environment: { TOKEN: 'two' }, workdir: '/else' })).toBe(ofFile);
    expect(digestOf(fromFile, { environment: { ...environment, PATH: '/bin' } })).not.toBe(ofFile);
    expect(digestOf(fromFile, { environment, bundleFolder: '/else' })).not.toBe(ofFile);
  });
});
