import { Component, type ReactNode } from "react";
import { answers } from "../api/server";

interface Props {
  address: string; // another one, another try
  children: ReactNode;
}

const AGAIN_MS = 2_000;

/** One page that breaks leaves the others usable; it comes back with another address, and with a server that was away. */
export class Guard extends Component<Props, { failed: boolean; away: boolean }> {
  override state = { failed: false, away: false };
  private timer: number | undefined;

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override componentDidCatch(): void {
    void this.look();
  }

  override componentDidUpdate(before: Props): void {
    if (this.state.failed && before.address !== this.props.address) this.tryAgain();
  }

  override componentWillUnmount(): void {
    window.clearTimeout(this.timer);
  }

  /** Whether the server is away: then the page's own code could not be loaded, and it is once the server answers. */
  private async look(): Promise<void> {
    const there = await answers();
    if (!this.state.failed) return;
    if (there && this.state.away) this.tryAgain();
    else if (!there) {
      this.setState({ away: true });
      this.timer = window.setTimeout(() => void this.look(), AGAIN_MS);
    }
  }

  private tryAgain(): void {
    window.clearTimeout(this.timer);
    this.setState({ failed: false, away: false });
  }

  override render(): ReactNode {
    const { failed, away } = this.state;
    if (!failed) return this.props.children;
    return (
      <div className="notice tone-bad" role="alert">
        <h2>{away ? "The server does not answer" : "This page broke"}</h2>
        {away ? <p>Is <code>benchbook serve</code> still running? This page comes as soon as it answers.</p> : <p>That is a fault of Benchbook's, not of your data. Loading it again may help; the other pages go on.</p>}
        <p className="actions">
          <button type="button" onClick={() => window.location.reload()}>
            Load again
          </button>
        </p>
      </div>
    );
  }
}
