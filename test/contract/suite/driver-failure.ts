/** A driver could not do what it was asked: no outcome of a call, and always a failure of the case. */
export class DriverFailure extends Error {
  override readonly name = "DriverFailure";
}
