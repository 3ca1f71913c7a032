import { expect, test } from 'bun:test';
import { temporaryBundle } from '../../../testing/temporary-bundle.ts';
import { loadBundle } from '../load-bundle.ts';
import { inspectCompat } from './inspect-compat.ts';

const extension = (more = '') => `apiVersion: goondan.ai/v1
kind: Extension
metadata: { name: old }
spec: { entry: ./e.ts${more} }
`;

async function load(yaml: string) {
  using bundle = temporaryBundle({ 'goondan.yaml': yaml, 'e.ts': 'export function register() {}' });
  const { resources, warnings } = await loadBundle(bundle.folder, { environment: {} });
  const old = resources.find((each) => each.kind === 'Extension');
  if (old === undefined) throw new Error('There is no extension.');
  return { old, warnings };
}

test('L-04 an extension with compat: v010 is a warning if the package is not installed', async () => {
  const { old, warnings } = await load(extension(', compat: v010'));
  expect(warnings).toEqual([]);
  expect(inspectCompat(old, old.resource.spec, () => undefined)).toMatchObject([
    {
      severity: 'warning',
      problem: {
        code: 'E_EXT_COMPAT',
        message: 'compat: v010 needs @goondan/v010, which is not installed.',
        suggestion: expect.stringContaining('npm install @goondan/v010'),
        line: 4,
      },
    },
  ]);
});

test('an extension without compat needs no package', async () => {
  const { old } = await load(extension());
  expect(inspectCompat(old, old.resource.spec, () => undefined)).toEqual([]);
});
