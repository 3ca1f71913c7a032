/** A person with a browser, who opens the address that `gdn mcp login` prints, and follows its redirect. */
import type { ReadableSubprocess } from 'bun';

/** Reads the output of the command to its end, and opens the address that has a line of its own. Returns the output. */
export async function visitAsPerson(command: Pick<ReadableSubprocess, 'stdout' | 'stderr'>): Promise<string> {
  let printed = '';
  let visited: Promise<void> | undefined;
  const read = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const piece of stream) {
      printed += decoder.decode(piece, { stream: true });
      const [, address] = /^\s+(https?:\/\/\S+)\n/m.exec(printed) ?? [];
      if (address !== undefined) visited ??= visit(address);
    }
  };
  await Promise.all([read(command.stdout), read(command.stderr)]);
  await visited;
  return printed;
}

/** Opens an address, and follows its redirect. */
export async function visit(address: string): Promise<void> {
  // The redirect leads to the address at which the command listens.
  const page = await fetch(address);
  await page.text();
}
