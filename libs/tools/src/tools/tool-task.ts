import { create } from "@bufbuild/protobuf";
import { type ToolTask, ToolTaskSchema } from "@forge/protocol/worker";
import type { TaskContext } from "@forge/worker";

/** What a task asks of a tool; of a task of another kind nothing. */
export function toolTask({ task }: Pick<TaskContext, "task">): ToolTask {
  return task.kind.case === "tool" ? task.kind.value : create(ToolTaskSchema);
}
