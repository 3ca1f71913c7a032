// Each test finds the parts that somebody forgot when adding something: see CONTRIBUTING.md, "Adding …".
import { describe, expect, test } from 'bun:test';
import { answerGet } from '../packages/cli/src/studio/api/answer-get.ts';
import { answerPost } from '../packages/cli/src/studio/api/answer-post.ts';
import { openModel } from '../packages/runtime/src/agent/model-call/open-model.ts';
import { providers } from '../packages/runtime/src/agent/model/providers/provider-table.ts';
import { providerCases } from '../packages/runtime/src/agent/model/providers/wire/provider-cases.ts';
import { manualClock } from '../packages/runtime/src/testing/manual-clock.ts';
import { listRepository, readRepository } from './read-repository.ts';

const read = (path: string) => readRepository(path)[0]?.text ?? '';

describe.each(Object.keys(providers))('the provider %s', (name) => {
  test('has a local server in the tests', () => {
    expect(providerCases.map(([known]) => known)).toContain(name);
  });

  test('is a value of `provider` in a bundle', () => {
    expect(read('packages/runtime/schema/goondan.schema.json')).toContain(`"${name}"`);
  });

  test('is opened by its name', async () => {
    const spec = { provider: name, model: 'm', endpoint: 'http://localhost:1', apiKey: 'a-key' };
    const model = await openModel('Model/m', spec, { clock: manualClock(), environment: {}, folder: '.' });
    expect(model).toHaveProperty('generate');
  });
});

describe('the requests of Studio', () => {
  const table = [...read('packages/cli/src/studio/contract.ts').matchAll(/(GET|POST) +workspaces\/ID\/?([\w-]*)/g)];
  const listed = (method: string) => table.filter(([, each]) => each === method).map(([, , last]) => last);

  test('with a handler are in the table of the contract', () => {
    // The stream of notices is a WebSocket, which the server handles before it uses these tables.
    expect(listed('GET').filter((last) => last !== 'events')).toEqual([...answerGet.keys()]);
    expect(listed('POST')).toEqual([...answerPost.keys()]);
  });
});

test.each(listRepository('docs/base/*.md'))('%s has an example', (path) => {
  const name = path.replace(/^.*\/|\.md$/g, '');
  expect(listRepository(`packages/base/examples/${name}/goondan.yaml`)).toHaveLength(1);
});

// Linux gives ports from 32768 on to outgoing connections, so a server with such a port sometimes cannot start.
test('the ports of all pages and examples are below those of outgoing connections', () => {
  const files = ['docs/**/*.md', 'examples/**/*.yaml', 'packages/base/examples/**/*.yaml'].flatMap(readRepository);
  const ports = files.flatMap(({ path, text }) =>
    [...text.matchAll(/(?:\bport: |127\.0\.0\.1:|localhost:)(\d+)/g)].map(([, port]) => ({ path, port: Number(port) })),
  );
  expect(ports.length).toBeGreaterThan(5);
  expect(ports.filter(({ port }) => port >= 32_768)).toEqual([]);
});
