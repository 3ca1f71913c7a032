/** Files that a person chose, dropped or pasted, before they are sent. */

export interface ChosenFile {
  readonly id: string;
  readonly name: string;
  readonly mediaType: string;
  readonly size: number;
  /** The bytes as base64. */
  readonly data: string;
}

export async function readChosen(files: Iterable<File>): Promise<readonly ChosenFile[]> {
  return Promise.all([...files].map(readOne));
}

/** Returns the parts of an input. */
export function toContent(files: readonly ChosenFile[]) {
  return files.map(({ name, mediaType, data }) => {
    const facts = { filename: name, ...(mediaType === '' ? {} : { mediaType }) };
    return mediaType.startsWith('image/') ? { type: 'image', image: data, ...facts } : { type: 'file', data, ...facts };
  });
}

async function readOne(file: File): Promise<ChosenFile> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    // Safe: a data URL is a text.
    reader.addEventListener('load', () => resolve(reader.result as string));
    reader.addEventListener('error', () => reject(new Error(`${file.name} cannot be read.`)));
    reader.readAsDataURL(file);
  });
  const data = url.slice(url.indexOf(',') + 1);
  // A pasted picture has no name of its own.
  return { id: crypto.randomUUID(), name: file.name || 'pasted', mediaType: file.type, size: file.size, data };
}
