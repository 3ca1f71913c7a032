/** Reads a posted form: text fields, and files. */
import type { InputPart } from '@goondan/types';
import { Refusal } from '@goondan/types/http';
import { type BodyBounds, readBody } from '../../web/read-body.ts';

/** The fields of a message, as in its JSON form. */
export interface FormMessage {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly files: readonly InputPart[];
}

export function isForm({ headers }: Request): boolean {
  return /^multipart\/form-data\b/i.test(headers.get('content-type') ?? '');
}

/** Reads `multipart/form-data`. Throws a `Refusal` if it is invalid, or one of `readBody`. */
export async function readForm(request: Request, bounds: BodyBounds): Promise<FormMessage> {
  const type = request.headers.get('content-type') ?? '';
  const bytes = await readBody(request, bounds);
  const form = await new Response(bytes.slice(), { headers: { 'content-type': type } }).formData().catch(() => {
    throw new Refusal(400, 'E_HTTP_BODY', 'The body of the request is not a form of the type multipart/form-data.');
  });
  const fields: Record<string, unknown> = Object.create(null);
  const files: InputPart[] = [];
  for (const [name, value] of form) {
    if (typeof value !== 'string') files.push(await toPart(value));
    else if (name in fields)
      throw new Refusal(400, 'E_HTTP_BODY', `The form has the field ${JSON.stringify(name)} twice.`);
    else fields[name] = value;
  }
  return { fields, files };
}

async function toPart(file: File): Promise<InputPart> {
  const data = new Uint8Array(await file.arrayBuffer());
  const filename = file.name === '' ? {} : { filename: file.name };
  // A type such as `text/plain;charset=utf-8` has settings.
  const [mediaType = ''] = file.type.split(';');
  const type = mediaType.trim() === '' ? {} : { mediaType: mediaType.trim() };
  if (mediaType.startsWith('image/')) return { type: 'image', image: data, ...type, ...filename };
  return { type: 'file', data, ...type, ...filename };
}
