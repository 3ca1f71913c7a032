import type { Delivery } from '@goondan/runtime';

/**
 * Reads the file of `--schema`. Returns the field of a delivery that demands such an answer; none without a file. The agent's
 * own retries count. **Errors** — `E_USAGE` when there is no such file, `E_OUTPUT_INVALID`.
 */
export async function readDemanded(file: string | undefined): Promise<Pick<Delivery, 'output'>> {
  if (file === undefined) return {};
  const [{ readSchemaFile }, { checkTextFile }] = await Promise.all([
    import('@goondan/runtime/bundle'),
    import('./check-file.ts'),
  ]);
  return { output: { schema: readSchemaFile(file, await checkTextFile(file)) } };
}
