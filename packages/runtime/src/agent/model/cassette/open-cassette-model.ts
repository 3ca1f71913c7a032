/** Opens a `cassette` model: `options: { mode: record | replay, file, upstream? }`. */
import { isAbsolute, normalize, resolve, sep } from 'node:path';
import { GoondanError } from '@goondan/types';
import type { Model, ModelDeps } from '../model-port.ts';
import type { ModelSpec } from '../../../config/model-spec.ts';
import { openCassetteWriter, readCassette } from './cassette-file.ts';
import { recordModel } from './record-model.ts';
import { replayModel } from './replay-model.ts';

const known = ['mode', 'file', 'upstream'];

/**
 * Opens the model. **Errors** — `E_RESOURCE_INVALID` for its options, `E_PATH_OUTSIDE` and `E_CASSETTE_FILE` for its
 * file.
 */
export async function openCassetteModel(spec: ModelSpec, deps: ModelDeps): Promise<Model> {
  const options = spec.options ?? {};
  const { mode, file, upstream } = options;
  const unknown = Object.keys(options).find((key) => !known.includes(key));
  if (unknown !== undefined) throw invalid(spec, `options.${unknown} is not known; use ${known.join(', ')}`);
  if (typeof file !== 'string' || file === '') throw invalid(spec, 'options.file must name the file of the recording');
  const path = resolve(deps.folder, insideOf(file));
  if (mode === 'replay') return replayModel(await readCassette(path), file);
  if (mode !== 'record') throw invalid(spec, 'options.mode must be record or replay');
  if (typeof upstream !== 'string' || deps.openUpstream === undefined) {
    throw invalid(spec, 'options.upstream must name the model to record, for example Model/claude');
  }
  return recordModel(await deps.openUpstream(upstream), await openCassetteWriter(path));
}

function insideOf(file: string): string {
  const path = normalize(file);
  if (!isAbsolute(path) && path !== '..' && !path.startsWith(`..${sep}`)) return path;
  throw new GoondanError('E_PATH_OUTSIDE', `The file of a cassette must be inside the bundle: "${file}".`);
}

function invalid(spec: ModelSpec, what: string): GoondanError {
  return new GoondanError('E_RESOURCE_INVALID', `Model cassette/${spec.model}: ${what}.`);
}
