export async function openSwarmLog(_place: object) {
  return { write: (_line: object) => undefined, close: async () => undefined };
}
