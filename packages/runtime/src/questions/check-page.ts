/** Checks the address of a page that a person is asked to open. Returns the problem as the end of a sentence. Pure. */
const LONGEST_URL = 8_000;
const ownHosts = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

export function checkPage(address: string): string | undefined {
  if (address.length > LONGEST_URL) return `its address has more than ${LONGEST_URL} characters`;
  if (!URL.canParse(address)) return 'its address is not valid';
  const { protocol, hostname, username, password } = new URL(address);
  if (username !== '' || password !== '') return 'its address contains a name or a password';
  if (protocol === 'https:') return undefined;
  if (protocol === 'http:' && ownHosts.test(hostname)) return undefined;
  return 'its address must begin with https:, or with http: for a page of this machine';
}
