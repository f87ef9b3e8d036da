"use strict";
(() => {
  const task = JSON.parse(document.getElementById("task").textContent);
  const top_ = document.getElementById("top"), main = document.getElementById("main");
  const fields = Object.fromEntries(task.fields.map(({ scale: [low, high], anchors, ...each }) => {
    const meanings = Object.entries(anchors).map(([score, text]) => [Number(score), text]);
    return [each.id, { ...each, low, high, anchors: meanings.sort((a, b) => b[0] - a[0]) }];
  }));
  const place = `recjury ${task.export} ${task.rater}`;
  const last = task.conversations.length;
  let answers = kept(), at = 0, field = 0, message = "";

  // All text goes in as text: nothing that a conversation says is read as HTML.
  function make(tag, kind, ...children) {
    const element = document.createElement(tag);
    if (kind) element.className = kind;
    element.append(...children);
    return element;
  }

  function button(kind, act, ...children) {
    const element = make("button", kind, ...children);
    element.type = "button";
    element.addEventListener("click", act);
    return element;
  }

  function kept() {
    try {
      return JSON.parse(localStorage.getItem(place)) || {};
    } catch {
      return {};
    }
  }

  // Another tab may have kept scores in the meantime.
  function renew() {
    const found = kept();
    if (Object.keys(found).length) answers = found;
  }

  function keep() {
    try {
      localStorage.setItem(place, JSON.stringify(answers));
    } catch {
      message = "This browser keeps nothing: save the file before you close the page.";
    }
  }

  const given = (talk) => answers[talk.name] || {};
  const open = (talk) => talk.fields.findIndex((id) => !(id in given(talk)));
  const count = (one) => task.conversations.reduce((sum, talk) => sum + one(talk), 0);
  const current = () => fields[task.conversations[at].fields[field]];
  const byDigit = (own) => own.low >= 0 && own.high <= 9;

  // While a number is typed, nothing is drawn, and one that is not on the scale leaves no score.
  function score(value, typing = false) {
    renew();
    const talk = task.conversations[at], own = current();
    const missing = talk.fields.slice(0, -1).find((id) => !(id in given(talk)));
    const { [own.id]: _, ...others } = given(talk);
    message = "";
    if (!Number.isInteger(value) || value < own.low || value > own.high) {
      message = `A whole number from ${own.low} to ${own.high} is wanted.`;
    } else if (field === talk.fields.length - 1 && missing) {
      message = `${own.name} comes last: ${fields[missing].name} has no score yet.`;
      if (!typing) field = talk.fields.indexOf(missing);
    }
    const isGood = !message;
    if (isGood || typing) answers[talk.name] = isGood ? { ...others, [own.id]: value } : others;
    keep();
    if (!typing) show();
    return isGood;
  }

  function withdraw(id) {
    renew();
    const talk = task.conversations[at], { [id]: _, ...others } = given(talk);
    answers[talk.name] = others;
    message = "";
    keep();
    show();
  }

  function next() {
    const talk = task.conversations[at];
    const rest = talk.fields.findIndex((id, number) => number > field && !(id in given(talk)));
    const gap = rest < 0 ? open(talk) : rest;
    if (gap >= 0) go(at, gap);
    else go(at + 1);
  }

  function go(conversation, to) {
    const moved = conversation !== at;
    at = Math.max(0, Math.min(conversation, last));
    message = "";
    if (at < last) {
      const talk = task.conversations[at];
      field = Math.max(0, Math.min(to ?? Math.max(0, open(talk)), talk.fields.length - 1));
    }
    show();
    if (moved) scrollTo(0, 0);
  }

  function save() {
    renew();
    const body = { form: "recjury answers 1", export: task.export, rater: task.rater, answers };
    const link = make("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(body)], { type: "application/json" }));
    link.download = `answers-${task.rater}.json`;
    document.body.append(link);
    link.click();
    link.remove();
    message = `Saved as ${link.download}, in the folder of your downloads.`;
    show();
  }

  function show() {
    const done = count((talk) => Object.keys(given(talk)).length);
    const whole = count((talk) => talk.fields.length);
    const where = at < last ? `Conversation ${at + 1} of ${last}` : "The end";
    const said = make("p", "alert", message);
    said.setAttribute("role", "status");
    top_.replaceChildren(make("h1", "", where),
      make("span", "go", button("", () => go(at - 1), "←"), button("", () => go(at + 1), "→")),
      make("span", "soft progress", `${done} of ${whole} scores, kept in this browser`),
      said, button("save", save, "Save ", make("kbd", "", "s")));
    main.replaceChildren(...(at < last ? [conversation(), panel()] : [end(whole - done)]));
    (main.querySelector("input, .end button") || document.body).focus({ preventScroll: true });
    main.querySelector("input")?.select();
    main.querySelector(".field.at")?.scrollIntoView({ block: "nearest" });
  }

  function end(missing) {
    const first = task.conversations.findIndex((talk) => open(talk) >= 0);
    return make("section", "end",
      make("p", "text", missing ? `${missing} scores are missing.` : "All scores are given. Save the file, and send it to whoever asked you."),
      missing ? button("", () => go(first), "Go to the first that is missing ", make("kbd", "", "Enter"))
        : button("", save, "Save the file ", make("kbd", "", "Enter")));
  }

  function conversation() {
    const talk = task.conversations[at];
    const before = talk.history.length
      ? [make("h2", "", "Before, not to be rated"), make("div", "history", ...talk.history.map(turn))] : [];
    return make("section", "talk", ...before,
      make("h2", "", "To be rated: what the system says"), ...talk.interaction.map(turn));
  }

  function turn(each) {
    const texts = [each.text, ...each.shown].filter((text) => text.trim());
    const shown = texts.length ? texts.map((text) => make("p", "text", text)) : [make("p", "soft", "(says nothing)")];
    return make("div", `turn ${each.speaker}`,
      make("div", "", make("p", "soft", each.speaker === "user" ? "User" : "System"), ...shown));
  }

  function panel() {
    const talk = task.conversations[at];
    return make("section", "fields",
      make("p", "soft keys", make("kbd", "", "↑"), " ", make("kbd", "", "↓"), " field, ", make("kbd", "", "←"), " ",
        make("kbd", "", "→"), " conversation, digits: score, ", make("kbd", "", "Enter"), " next, ", make("kbd", "", "Space"), " more of the field"),
      ...talk.fields.map((id, number) => {
        const own = fields[id], value = given(talk)[id], isAt = number === field;
        const row = make("div", isAt ? "field at" : "field",
          button("", () => go(at, number), own.name, make("span", value === undefined ? "score" : "score given", String(value ?? ""))));
        if (isAt) row.append(guide(own, talk, value));
        return row;
      }));
  }

  function guide(own, talk, value) {
    const part = make("div", "guide");
    if (own.definition) part.append(make("p", "", own.definition));
    part.append(...(byDigit(own) ? scale(own, value) : number(own, value)));
    if (own.inputs.includes("target")) {
      const places = talk.places ? `In the list of the system, at: ${talk.places}.` : "Not in the list of the system.";
      part.append(...listed(`What the user really wants${talk.target.length > 1 ? ", any one of these" : ""}`, talk.target), make("p", "", places));
      if (talk.wishes.length) part.append(...listed("What the user wishes", talk.wishes));
    }
    if (own.inputs.includes("list")) part.append(...listed("What the system recommended", talk.list));
    if (own.steps.length) part.append(...listed("How to go about it", own.steps));
    return part;
  }

  function listed(title, texts) {
    return [make("h2", "", title), make("ol", "", ...texts.map((text) => make("li", "", text)))];
  }

  function scale(own, value) {
    const texts = new Map(own.anchors);
    const scores = Array.from({ length: own.high - own.low + 1 }, (_, step) => own.high - step);
    const choices = scores.map((each) => make("li", "", button(each === value ? "given" : "", () => score(each),
      make("b", "", String(each)), make("span", "", texts.get(each) ?? "between its neighbours"))));
    return [make("ul", "anchors", ...choices), steps(next)];
  }

  function number(own, value) {
    const input = make("input");
    input.inputMode = "numeric";
    input.value = value ?? "";
    input.setAttribute("aria-label", `${own.name}, ${own.low} to ${own.high}`);
    input.addEventListener("input", () => score(typed(input), true));
    const texts = own.anchors.map(([each, text]) => make("li", "", `${each}: ${text}`));
    return [make("ul", "anchors", ...texts), input, steps(enter)];
  }

  function more(direction) {
    const part = main.querySelector(".fields");
    part.scrollBy(0, direction * 0.8 * part.clientHeight);
  }

  const steps = (act) => make("p", "steps",
    button("", () => go(at, field - 1), "Back ", make("kbd", "", "↑")), button("", act, "Next ", make("kbd", "", "Enter")));

  const typed = (input) => /^\d+$/.test(input.value.trim()) ? Number(input.value) : NaN;

  function enter() {
    if (score(typed(main.querySelector("input")))) next();
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isButton = event.target.tagName === "BUTTON", inInput = event.target.tagName === "INPUT";
    const own = at < last ? current() : null;
    if (event.key === "s") save();
    else if (event.key === "ArrowLeft") go(at - 1);
    else if (event.key === "ArrowRight") go(at + 1);
    else if (own && event.key === " " && !isButton) more(event.shiftKey ? -1 : 1);
    else if (own && event.key === "ArrowUp") go(at, field - 1);
    else if (own && event.key === "ArrowDown") go(at, field + 1);
    else if (own && byDigit(own) && /^\d$/.test(event.key)) score(Number(event.key));
    else if (own && !inInput && ["Backspace", "Delete"].includes(event.key)) withdraw(own.id);
    else if (own && event.key === "Enter" && inInput) enter();
    else if (own && event.key === "Enter" && !isButton) next();
    else return;
    event.preventDefault();
  });

  const first = task.conversations.findIndex((talk) => open(talk) >= 0);
  go(first < 0 ? last : first);
})();
