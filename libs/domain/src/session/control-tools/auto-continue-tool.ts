import { create } from "@bufbuild/protobuf";
import { RiskLevel, ToolSpecSchema } from "@forge/protocol/tool";

/** The agent says that it is not done, so that its answer is not taken for the last one. */
export const AUTO_CONTINUE_TOOL = create(ToolSpecSchema, {
  name: "tools.auto_continue",
  description:
    "Says that you are not done and go on without waiting for the person. Call it where you would otherwise end an answer in the middle of the work.",
  inputSchemaJson: JSON.stringify({
    type: "object",
    properties: { reason: { type: "string", description: "What is still to be done." } },
  }),
  risk: RiskLevel.READ,
  idempotent: true,
});

/** What the model reads as the call's output. */
export const GO_ON = "Go on with the next step of the work. Give the final answer once nothing is left to do.";
