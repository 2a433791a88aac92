import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { HealthCheckResponse_ServingStatus as ServingStatus } from "@forge/protocol/grpc-health";

/** Watchers need no token: all of them together must not cost much. */
const WATCHERS_MAX = 100;

/** That the server takes calls, for whoever balances load over it or restarts it: it does while it answers. The empty name means all of it. */
export class Health {
  readonly #services: ReadonlySet<string>;
  #watchers = 0;

  constructor(services: Iterable<string>) {
    this.#services = new Set(["", ...services]);
  }

  /** Errors: not_found for a service that is not served here. */
  check(service: string): ServingStatus {
    if (!this.#services.has(service)) throw new ForgeError(ErrorCode.NOT_FOUND, `there is no service ${service.slice(0, 200)} here`);
    return ServingStatus.SERVING;
  }

  /** Of every service, by its name. */
  list(): Readonly<Record<string, ServingStatus>> {
    return Object.fromEntries([...this.#services].map((service) => [service, ServingStatus.SERVING]));
  }

  /** The status; then nothing until the caller leaves or the connection ends with the server, which tells that it serves no more. Errors: resource_exhausted, WATCHERS. */
  async *watch(service: string, signal: AbortSignal): AsyncGenerator<ServingStatus> {
    if (this.#watchers >= WATCHERS_MAX) {
      throw new ForgeError(ErrorCode.RESOURCE_EXHAUSTED, `${WATCHERS_MAX} watch already: check now and then instead`, { reason: "WATCHERS" });
    }
    this.#watchers++;
    try {
      yield this.#services.has(service) ? ServingStatus.SERVING : ServingStatus.SERVICE_UNKNOWN;
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    } finally {
      this.#watchers--;
    }
  }
}
