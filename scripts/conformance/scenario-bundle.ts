/** The bundle with which a scenario runs: one agent with the server of the scenario, and a scripted model. */
import type { JsonObject } from '@goondan/types';

/** The name of the server in the bundle. */
export const SERVER = 'server';

/** A tool call that the model makes when its input is `call N`. */
export interface ScenarioCall {
  readonly tool: string;
  readonly args: JsonObject;
}

export interface ScenarioPlan {
  readonly calls: readonly ScenarioCall[];
  /** Settings of the server besides its address. Secrets are variables. */
  readonly transport: JsonObject;
  /** The variables of the agent. */
  readonly environment: Readonly<Record<string, string>>;
}

const call = (tool: string, args: JsonObject = {}): ScenarioCall => ({ tool, args });

/** The calls of the scenarios of the protocol. The scenarios of authorization have the tool `test-tool`. */
const callsOf: Readonly<Record<string, readonly ScenarioCall[]>> = {
  tools_call: [call('add_numbers', { a: 2, b: 3 })],
  // The server of these two has nothing to call. Its tools are listed when the turn begins.
  'request-metadata': [],
  'json-schema-ref-no-deref': [],
  'http-standard-headers': [
    call('test_headers'),
    call('my-hyphenated-tool'),
    call('list_resources'),
    call('read_resource', { uri: 'file:///path/to/file%20name.txt' }),
    call('read_resource', { uri: 'https://example.com/resource?id=123' }),
    call('list_prompts'),
    call('get_prompt', { name: 'test_prompt' }),
  ],
  'http-invalid-tool-headers': [call('valid_tool', { region: 'us-west1' })],
  'sep-2322-client-request-state': [
    call('test_mrtr_echo_state'),
    call('test_mrtr_unrelated'),
    call('test_mrtr_no_state'),
    call('test_mrtr_no_result_type'),
  ],
  'elicitation-sep1034-client-defaults': [call('test_client_elicitation_defaults')],
};

/** The address that the suite expects as the client's own metadata document. */
const METADATA_DOCUMENT = 'https://conformance-test.local/client-metadata.json';

/** Plans a scenario. `context`: the values that the suite hands to the client. */
export function planScenario(scenario: string, context: JsonObject): ScenarioPlan {
  const calls = readCalls(context.toolCalls) ?? callsOf[scenario] ?? [call('test-tool')];
  const { client_id: clientId, client_secret: secret, private_key_pem: key, signing_algorithm: algorithm } = context;
  if (typeof clientId === 'string') {
    const grant = scenario.includes('client-credentials') ? { grant: 'client_credentials' } : {};
    const isKey = typeof key === 'string';
    const proof = isKey ? { privateKey: '${PROOF}', algorithm: algorithm ?? 'ES256' } : { clientSecret: '${PROOF}' };
    const environment = { PROOF: isKey ? key : typeof secret === 'string' ? secret : '' };
    return { calls, transport: { oauth: { clientId, ...proof, ...grant } }, environment };
  }
  const transport = scenario.startsWith('auth/') ? { oauth: { clientMetadataUrl: METADATA_DOCUMENT } } : {};
  return { calls, transport, environment: {} };
}

/** Reads the calls that the suite wants. An argument without a value is left out, as the schemas of the tools want it. */
function readCalls(value: JsonObject[string] | undefined): readonly ScenarioCall[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.map((each) => {
    // The cast is safe: the suite documents these values.
    const { name, arguments: args } = each as { name: string; arguments: JsonObject };
    return call(name, Object.fromEntries(Object.entries(args).filter(([, given]) => given !== null)));
  });
}

/** Writes `goondan.yaml`, as JSON, which is YAML too. */
export function writeBundle(url: string, { calls, transport, environment }: ScenarioPlan): string {
  const script = [
    ...calls.map(({ tool, args }, index) => ({ when: `^call ${index}$`, call: { tool: `${SERVER}__${tool}`, args } })),
    { say: '{{result}}' },
  ];
  const extension = {
    ref: { kind: 'Extension', name: 'mcp', package: '@goondan/base' },
    as: SERVER,
    config: {
      transport: { type: 'http', url, ...transport },
      expose: { resources: true, prompts: true },
      required: true,
    },
  };
  const documents: readonly JsonObject[] = [
    resource('Model', 'main', { provider: 'scripted', model: 'scripted', options: { script } }),
    resource('Agent', 'client', {
      modelConfig: { modelRef: 'Model/main' },
      environment: Object.fromEntries(
        Object.keys(environment).map((name) => [name, { valueFrom: { env: name } }] as const),
      ),
      extensions: [extension],
    }),
    resource('Swarm', 'default', {
      entryAgent: 'Agent/client',
      agents: ['Agent/client'],
      policy: { spares: 0 },
    }),
  ];
  return documents.map((document) => JSON.stringify(document)).join('\n---\n');
}

function resource(kind: string, name: string, spec: JsonObject): JsonObject {
  return { apiVersion: 'goondan.ai/v1', kind, metadata: { name }, spec };
}
