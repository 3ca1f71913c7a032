// Tests a real connector: an event that the runtime refuses is in the log, although the connector handles the error.
import { expect, test } from 'bun:test';
import { commandsAbout, openPlace } from './testing/open-place.ts';
import { sampleBundle } from './testing/sample-bundle.ts';
import { until } from '../../../test/until.ts';

const place = openPlace();
const { gdn, json } = commandsAbout(place);

test('an event with an unknown field is in the log with the nearest known field, and no agent starts', async () => {
  const more = `kind: Connector
metadata: { name: chat }
spec: { entry: ./chat.ts, events: [{ name: said }] }
---
apiVersion: goondan.ai/v1
kind: Connection
metadata: { name: chat }
spec: { connectorRef: Connector/chat, ingress: { rules: [{ route: {} }] } }`;
  await place.write('bundle', {
    'goondan.yaml': sampleBundle({ more }),
    'chat.ts': `export default async function chat({ emit, signal }) {
  await emit({ name: 'said', message: { type: 'text', text: 'hi' } }).catch(() => undefined);
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
}
`,
  });
  await place.serve('bundle');
  const problem = '"message" is not a field of an event; the nearest field is "input"';
  await until(async () => (await gdn('logs --level warn')).stdout.includes(problem));
  expect(await json('instance list --json')).toEqual([]);
});
