/** For a browser without the cookie: a page that says what to do, with nothing on it that could be wrong. */
export function askForLink(problem: string): Response {
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Goondan Studio</title>
<h1>Goondan Studio</h1><p>${problem}</p>
<p>Open the link that <code>gdn studio</code> printed in its terminal. It has a token that lets this browser in.</p></html>
`;
  return new Response(page, { status: 401, headers: { 'Content-Type': 'text/html; charset=utf-8' } });
}
