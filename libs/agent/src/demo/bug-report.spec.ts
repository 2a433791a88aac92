import { describe, expect, it } from "vitest";
import { readBugReport } from "./bug-report.ts";

describe("readBugReport", () => {
  it("takes the identifier from the first stack frame and keeps Windows line ends out", () => {
    const report =
      "# Login crashes after update\r\n\r\nTypeError: x is undefined\r\n    at LoginForm.submitCredentials (src/login/form.ts:42:11)\r\n    at async main (src/main.ts:3:1)\r\n";
    expect(readBugReport(report)).toEqual({ title: "Login crashes after update", severity: "high", isBugReport: true, identifier: "submitCredentials" });
  });

  it.each([
    ['Traceback\n  File "app.py", line 3, in load_cart\n', "load_cart"],
    ["Boom\n    at com.shop.Cart.addItem(Cart.java:12)", "addItem"],
    ['{"title":"x","frames":[{"function":"<anonymous>"},{"function":"Session.renew"}]}', "renew"],
    ["The `parseDate` helper throws an error", "parseDate"],
    ["Settings page shows an error", "Settings"],
  ])("finds a name worth searching for in %j", (report, identifier) => {
    expect(readBugReport(report).identifier).toBe(identifier);
  });

  it.each([
    ["Deleting one note causes data loss in all others", "critical"],
    ["Security: session tokens are logged", "critical"],
    ["App crashes on start", "high"],
    ["Saving fails with an error", "medium"],
    ["Typo in the error message", "low"],
    ["ログイン画面でアプリがクラッシュする", "high"],
    ["保存时数据丢失", "critical"],
    ["Приложение выдаёт ошибку при входе", "medium"],
  ])("rates %j as %s", (report, severity) => {
    expect(readBugReport(report)).toMatchObject({ severity, isBugReport: true });
  });

  it.each(["Our picnic is on Sunday. Bring salad and good mood.", "明日は休みです。", ""])("does not take %j for a bug report", (text) => {
    expect(readBugReport(text)).toMatchObject({ severity: "low", isBugReport: false });
  });

  it("does not mistake the instructions around a report for it", () => {
    const prompt = (report: string) => `Write a summary and a severity for this crash report.\n<report>\n${report}\n</report>\nSecurity problems are critical.`;
    expect(readBugReport(prompt("Bring salad to the picnic."))).toMatchObject({ isBugReport: false, title: "Bring salad to the picnic." });
    const unmarked = "Triage this bug report: answer as JSON with severity low, medium, high or critical.\n\nBring salad to the picnic.";
    expect(readBugReport(unmarked)).toMatchObject({ isBugReport: false, title: "Bring salad to the picnic." });
  });
});
