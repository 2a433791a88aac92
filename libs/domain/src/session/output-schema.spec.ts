import { FinishReason } from "@forge/protocol/event";
import { TurnOutcome } from "@forge/protocol/session";
import { describe, expect, it } from "vitest";
import { answerWith, createSession, modelTask, SESSION_ID, type SessionStream, sessionInTurn, startTurn, textPart } from "../testing/session-fixture.ts";
import { TestStream } from "../testing/test-stream.ts";
import { sent } from "../testing/told.ts";
import { sessionDecider } from "./session-decider.ts";

const SCHEMA = JSON.stringify({ type: "object", properties: { sum: { type: "integer" } }, required: ["sum"] });

const structured = (): SessionStream => sessionInTurn({ agent: { model: "demo/a", outputSchemaJson: SCHEMA } });
const outcome = (stream: SessionStream) => stream.state.turn?.end?.outcome;

describe("an answer that has to match a schema", () => {
  it("ends the turn where it does, and the model was told the schema", () => {
    const stream = structured();
    expect(modelTask(stream).task.kind.value).toMatchObject({ outputSchemaJson: SCHEMA });
    answerWith(stream, [textPart('{"sum":3}')]);
    expect(outcome(stream)).toBe(TurnOutcome.TASK_COMPLETED);
  });

  it.each([
    ["no JSON", "Three.", "it is not JSON"],
    ["another value", '{"sum":"3"}', "sum must be integer"],
    ["fenced", '```json\n{"sum":3}\n```', "without a code fence"],
  ])("is told once what is wrong with it: %s", (_, text, problem) => {
    const stream = structured();
    expect(answerWith(stream, [textPart(text)]).cases).toEqual(["modelCompleted", "modelUsageRecorded", "messageAdded", "modelRequested"]);
    expect(sent(stream)).toEqual(["user: Hello.", `assistant: ${text}`, expect.stringMatching(new RegExp(`^user: Your answer does not match.*${problem}`))]);
    answerWith(stream, [textPart('{"sum":3}')]);
    expect(outcome(stream)).toBe(TurnOutcome.TASK_COMPLETED);
    stream.must(startTurn("Next."));
    expect(sent(stream)).toEqual(["user: Hello.", `assistant: ${text}`, 'assistant: {"sum":3}', "user: Next."]);
  });

  it("ends the turn as invalid where it does not match again", () => {
    const stream = structured();
    answerWith(stream, [textPart("Three.")]);
    answerWith(stream, [textPart("3")]);
    expect(outcome(stream)).toBe(TurnOutcome.OUTPUT_INVALID);
    stream.must(startTurn());
    answerWith(stream, [textPart("Three.")]);
    expect(modelTask(stream)).toBeDefined();
  });

  it("is read whole, however long, and cut or refused answers end as such", () => {
    const stream = structured();
    answerWith(stream, [textPart(`{"sum":1,"more":"${"x".repeat(20_000)}"}`)]);
    expect(outcome(stream)).toBe(TurnOutcome.TASK_COMPLETED);
    stream.must(startTurn());
    answerWith(stream, [textPart('{"su')], FinishReason.LENGTH);
    expect(outcome(stream)).toBe(TurnOutcome.OUTPUT_CUT);
  });

  it("needs a schema that can be used", () => {
    for (const outputSchemaJson of ["{", '{"type":"thing"}', '{"$ref":"#/nowhere"}', JSON.stringify({ title: "x".repeat(17_000) })]) {
      const { rejection } = new TestStream(sessionDecider, { streamId: SESSION_ID }).execute(createSession({ agent: { model: "demo/a", outputSchemaJson } }));
      expect(rejection?.metadata, outputSchemaJson.slice(0, 20)).toMatchObject({ field: "agent.output_schema_json" });
    }
  });
});
