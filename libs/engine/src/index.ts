export { type ControlPlane, type ControlPlaneOptions, createControlPlane } from "./control-plane.ts";
export { EVENT_KINDS } from "./stream/envelope.ts";
