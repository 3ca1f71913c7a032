/** A bundle in its own folder, for tests. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface TemporaryBundle extends Disposable {
  /** The real path of the folder. */
  readonly folder: string;
}

/** Writes a bundle from a map of paths to texts. */
export function temporaryBundle(files: Readonly<Record<string, string | Uint8Array>>): TemporaryBundle {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'goondan-bundle-')));
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

/** A complete and valid bundle, with one resource of every kind. */
export const completeBundle: Readonly<Record<string, string>> = {
  'goondan.yaml': `# yaml-language-server: $schema=./goondan.schema.json
apiVersion: goondan.ai/v1
kind: Model
metadata: { name: demo }
spec:
  provider: scripted
  model: demo
  options:
    script:
      - when: "weather in (?<city>\\\\w+)"
        call: { tool: weather__get, args: { city: "{{city}}" } }
      - say: "You said: {{input}}"
---
apiVersion: goondan.ai/v1
kind: Model
metadata: { name: claude, labels: { tier: paid } }
spec:
  provider: anthropic
  model: claude-sonnet-4-5
  apiKey: { valueFrom: { env: TEAM_KEY } }
  params: { temperature: 0.2 }
---
apiVersion: goondan.ai/v1
kind: Swarm
metadata: { name: default }
spec:
  entryAgent: Agent/host
  agents: [{ ref: Agent/host }, Agent/librarian]
  extensions: [{ ref: Extension/guard }]
  policy: { maxStepsPerTurn: 8, idle: { hibernateAfterSeconds: null } }
---
apiVersion: goondan.ai/v1
kind: Package
metadata: { name: library }
spec: { version: 1.2.3, description: A library. }
`,
  'agents.yaml': `apiVersion: goondan.ai/v1
kind: Agent
metadata: { name: host }
spec:
  description: Talks to visitors.
  modelConfig: { modelRef: Model/demo, params: { maxTokens: 100 }, models: [Model/claude] }
  prompt: { systemRef: ./prompts/host.md }
  tools: [{ ref: Tool/weather }, Tool/agents]
  extensions: [{ ref: Extension/logging, config: { level: debug } }]
  environment: { REGION: { valueFrom: { env: REGION } } }
---
apiVersion: goondan.ai/v1
kind: Agent
metadata: { name: librarian }
spec:
  modelConfig: { modelRef: Model/demo }
  prompt:
    system: |
      You know
      books.
  policy: { maxStepsPerTurn: 2 }
`,
  'parts.yml': `apiVersion: goondan.ai/v1
kind: Tool
metadata: { name: weather }
spec:
  entry: ./tools/weather.ts
  errorMessageLimit: 200
  exports:
    - name: get
      description: The weather.
      parameters: { type: object, properties: { city: { type: string } }, required: [city] }
      parallel: true
      effects: none
---
apiVersion: goondan.ai/v1
kind: Extension
metadata: { name: logging }
spec:
  entry: ./extensions/logging.ts
  config: { level: info, targets: { file: true, console: true } }
  configSchema: { type: object, properties: { level: { enum: [info, debug] } } }
---
apiVersion: goondan.ai/v1
kind: Extension
metadata: { name: guard }
spec: { entry: ./extensions/guard.ts, config: { token: { valueFrom: { env: GUARD_TOKEN } } } }
---
apiVersion: goondan.ai/v1
kind: Connector
metadata: { name: web }
spec: { entry: ./connectors/web.ts, events: [message, { name: joined, description: Somebody came. }] }
---
apiVersion: goondan.ai/v1
kind: Connection
metadata: { name: front-door }
spec:
  connectorRef: Connector/web
  swarmRef: Swarm/default
  config: { port: 0, secret: { valueFrom: { env: WEB_SECRET } } }
  secrets: { signing: { valueFrom: { env: SIGNING_KEY } }, plain: written-down }
  ingress:
    rules:
      - match: { event: joined }
        route: { agentRef: Agent/librarian, instanceKey: arrivals }
      - match: { properties: { kind: chat } }
        route: { agentRef: { kind: Agent, name: host }, instanceKeyProperty: room, instanceKeyPrefix: room- }
      - route: {}
`,
  'prompts/host.md': 'You are the host.\n',
  'tools/weather.ts': `import { celsius } from './celsius';\nexport const handlers = { get: () => ({ tempC: celsius }) };\n`,
  'tools/celsius.ts': 'export const celsius = 3;\n',
  'extensions/logging.ts': `import type { ExtensionApi } from '@goondan/types';\nexport function register(api: ExtensionApi) { api.logger.info('hi'); }\n`,
  'extensions/guard.ts': 'export function register() {}\n',
  'connectors/web.ts': 'export default async () => {};\n',
};

/** The environment variables that the resources of `completeBundle` need. */
export const completeEnvironment: Readonly<Record<string, string>> = {
  TEAM_KEY: 'team-key-1234567',
  REGION: 'eu',
  GUARD_TOKEN: 'guard-token-123',
  WEB_SECRET: 'web-secret-1234',
  SIGNING_KEY: 'signing-key-1234',
};
