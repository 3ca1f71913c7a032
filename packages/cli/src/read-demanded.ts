import type { Delivery } from '@goondan/runtime';

/** Reads the file of `--schema`. Returns the field of a delivery that demands such an answer; none without a file. */
export async function readDemanded(file: string | undefined): Promise<Pick<Delivery, 'output'>> {
  if (file === undefined) return {};
  const { readSchemaFile } = await import('@goondan/runtime/bundle');
  return { output: { schema: readSchemaFile(file) } };
}
