"use strict";
(() => {
  const element = document.getElementById("task");
  const main = document.getElementById("main");
  const page = crc32(element.textContent);
  if (page !== element.dataset.checksum) {
    main.append(make("p", "error", "This page was altered and cannot be used. Ask for a new one."));
    return;
  }
  const task = JSON.parse(element.textContent);
  const questions = Object.fromEntries(task.questions.map((each) => [each.id, each]));
  let rater = null, asked = [], answers = {}, at = 0, message = "";

  function crc32(text) {
    let crc = -1;
    for (const byte of new TextEncoder().encode(text)) {
      crc ^= byte;
      for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ((crc ^ -1) >>> 0).toString(16).padStart(8, "0");
  }

  // All text goes in as text: nothing that a conversation holds is read as HTML.
  function make(tag, kind, text, ...children) {
    const made = document.createElement(tag);
    if (kind) made.className = kind;
    if (text) made.textContent = text;
    made.append(...children);
    return made;
  }

  function button(text, kind, act) {
    const made = make("button", kind, text);
    made.type = "button";
    made.addEventListener("click", act);
    return made;
  }

  const place = () => "recjury " + task.id + " " + rater;
  const name = (each) => each.conversation + " " + each.question;

  function keep() {
    try {
      localStorage.setItem(place(), JSON.stringify(answers));
    } catch {
      message = "This browser keeps nothing: save the file before you close the page.";
    }
  }

  function kept() {
    try {
      return JSON.parse(localStorage.getItem(place())) || {};
    } catch {
      return {};
    }
  }

  function begin(chosen) {
    rater = chosen;
    asked = task.raters[rater].flatMap((conversation) =>
      task.conversations[conversation].questions.map((question) => ({ conversation, question })));
    answers = {};
    const before = kept();
    for (const each of asked) {
      const score = before[name(each)];
      const { low, high } = questions[each.question];
      if (Number.isInteger(score) && score >= low && score <= high) answers[name(each)] = score;
    }
    const open = asked.findIndex((each) => !(name(each) in answers));
    at = open < 0 ? asked.length : open;
    show();
  }

  function give(score) {
    const { low, high } = questions[asked[at].question];
    if (!Number.isInteger(score) || score < low || score > high) {
      message = `A whole number from ${low} to ${high}, please.`;
      show();
      return;
    }
    message = "";
    answers[name(asked[at])] = score;
    keep();
    at += 1;
    show();
  }

  function move(step) {
    message = "";
    at = Math.min(Math.max(at + step, 0), asked.length);
    show();
  }

  function save() {
    const given = asked.filter((each) => name(each) in answers)
      .map((each) => [each.conversation, each.question, answers[name(each)]]);
    const body = { format: "recjury answers 1", task: task.id, page, rater, answers: given };
    body.checksum = crc32(JSON.stringify([task.id, page, rater, given]));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(body)], { type: "application/json" }));
    link.download = `answers-${rater}.json`;
    document.body.append(link);
    link.click();
    link.remove();
    message = `Saved ${given.length} of ${asked.length} answers as ${link.download}.`;
    show();
  }

  const few = (question) => question.low >= 0 && question.high <= 9;

  function show() {
    main.replaceChildren();
    if (rater === null) { choose(); return; }
    const done = Object.keys(answers).length;
    const progress = make("span", "note", `${done} of ${asked.length} answered`);
    progress.id = "progress";
    const bar = make("header", "", "", make("h1", "", `Rater ${rater}`), progress,
      button("Save as a file (s)", "save", save));
    main.append(bar);
    if (message) main.append(make("p", "error", message));
    if (at >= asked.length) {
      const open = asked.length - done;
      main.append(make("p", "", open ? `${open} questions have no answer yet: go back with the left arrow.`
        : "All questions are answered. Save the file (s), and send it to whoever asked you."));
      return;
    }
    const columns = make("div", "columns");
    columns.append(conversation(), question());
    main.append(columns);
    const field = main.querySelector("input");
    if (field) field.focus();
  }

  function choose() {
    main.append(make("h1", "", "Rating conversations"),
      make("p", "", "Answers stay in this browser until you save them as a file. Who are you?"));
    for (const each of Object.keys(task.raters)) {
      main.append(button(each, "rater", () => begin(each)), " ");
    }
    main.querySelector("button").focus();
  }

  function conversation() {
    const shown = task.conversations[asked[at].conversation];
    const shows = questions[asked[at].question].shows;
    const part = make("section", "conversation");
    part.tabIndex = 0;
    part.append(make("p", "note", `Conversation ${asked[at].conversation}` +
      (shown.turns.some((turn) => turn.history) ? "; what is marked \"before\" is not to be rated" : "")));
    for (const turn of shown.turns) {
      const who = (turn.speaker === "user" ? "User" : "System") + (turn.history ? " (before)" : "");
      part.append(make("div", `turn ${turn.speaker === "user" ? "user" : "system"}` + (turn.history ? " before" : ""), "",
        make("div", "who", who), make("div", "text", turn.text)));
    }
    if (shows.includes("list")) part.append(listed("What the system recommended, best first", shown.items));
    if (shows.includes("target")) part.append(listed("What the user really wants", shown.targets));
    return part;
  }

  function listed(title, names) {
    const list = make("ol");
    for (const each of names) list.append(make("li", "text", each));
    return make("div", "list", "", make("h2", "note", title), list);
  }

  function question() {
    const own = questions[asked[at].question];
    const part = make("section", "question");
    part.append(make("h2", "", own.title));
    if (own.definition) part.append(make("p", "", own.definition));
    if (own.steps.length) {
      const steps = make("ol", "note");
      for (const step of own.steps) steps.append(make("li", "", step));
      part.append(steps);
    }
    part.append(few(own) ? scale(own) : field(own));
    part.append(make("p", "note",
      (few(own) ? "Press a digit to answer" : "Type a number, then Enter") +
      "; arrows go back and forth; s saves the file."));
    return part;
  }

  function scale(own) {
    const meanings = new Map(task.anchors[own.id]);
    const list = make("ul", "scores");
    for (let score = own.high; score >= own.low; score--) {
      const chosen = answers[name(asked[at])] === score;
      const text = `${score}` + (meanings.has(score) ? `: ${meanings.get(score)}` : "");
      list.append(make("li", "", "", button(text, chosen ? "chosen" : "", () => give(score))));
    }
    return list;
  }

  function field(own) {
    const input = make("input");
    input.inputMode = "numeric";
    input.value = answers[name(asked[at])] ?? "";
    input.setAttribute("aria-label", `${own.low} to ${own.high}`);
    const enter = () => give(/^[0-9]{1,6}$/.test(input.value.trim()) ? Number(input.value) : NaN);
    return make("p", "", "", `${own.low} to ${own.high}: `, input, " ", button("OK", "ok", enter));
  }

  document.addEventListener("keydown", (event) => {
    if (rater === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const own = at < asked.length ? questions[asked[at].question] : null;
    if (event.key === "s") save();
    else if (event.key === "ArrowLeft") move(-1);
    else if (event.key === "ArrowRight") move(1);
    else if (own && few(own) && /^[0-9]$/.test(event.key)) give(Number(event.key));
    else if (own && !few(own) && event.key === "Enter" && event.target.tagName === "INPUT") {
      main.querySelector("button.ok").click();
    } else return;
    event.preventDefault();
  });

  show();
})();
