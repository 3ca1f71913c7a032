/** Shown when nothing has run on this machine yet: the first command to type. */
export function EmptyWorkspace() {
  return (
    <main className="middle centred">
      <div className="welcome">
        <h1>No swarm has run here yet</h1>
        <p>Start one, and it appears on this page. No key is needed for these:</p>
        <dl>
          <dt>
            <code>gdn demo --studio</code>
          </dt>
          <dd>a swarm of two agents, to look around</dd>
          <dt>
            <code>gdn init my-swarm --template demo</code>
          </dt>
          <dd>
            the same as a bundle of your own; then <code>gdn run my-swarm --trust --detach</code>
          </dd>
        </dl>
      </div>
    </main>
  );
}
