/** Shows a text of the runtime, in which backticks mark code. Stars and underscores are parts of paths and names. */
export function CodedText({ text }: { readonly text: string }) {
  return text.split(/`([^`\n]+)`/).map((piece, index) => (index % 2 === 1 ? <code key={index}>{piece}</code> : piece));
}
