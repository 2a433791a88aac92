import type { ConnectRouter } from "@connectrpc/connect";
import { Health as HealthService } from "@forge/protocol/grpc-health";
import { toForgeError, toStatus } from "../status.ts";
import type { Health } from "./health.ts";

/** Requests name a service; strangers may send them. */
const READ_BYTES_MAX = 4 * 1024;

/** The path of every call below; probes come under whatever address they know and without a token. */
export const HEALTH_PATH = `/${HealthService.typeName}/`;

/** gRPC's health protocol. */
export function createHealthRoutes(health: Health, onBug: (error: unknown, id: string) => void): (router: ConnectRouter) => void {
  const status = (error: unknown): Error => toStatus(toForgeError(error, onBug));
  return (router) => {
    router.service(
      HealthService,
      {
        check: ({ service }) => {
          try {
            return { status: health.check(service) };
          } catch (error) {
            throw status(error);
          }
        },
        list: () => ({ statuses: Object.fromEntries(Object.entries(health.list()).map(([service, current]) => [service, { status: current }])) }),
        async *watch({ service }, { signal }) {
          try {
            for await (const current of health.watch(service, signal)) yield { status: current };
          } catch (error) {
            throw status(error);
          }
        },
      },
      { readMaxBytes: READ_BYTES_MAX },
    );
  };
}
