// An OpenID provider for the demo and for browser tests, on this machine and offline. It is the certified
// library `oidc-provider` with a sign-in form and five people; every password is the name of the person.
//
//   PORT     port on 127.0.0.1
//   APP_URL  address of the application, without a slash at the end
//   CONTROL  1 lets tests change groups and keys, and expire codes, over POST /control/…
import { generateKeyPairSync } from "node:crypto";
import http from "node:http";
import { Provider } from "oidc-provider";

const port = Number(process.env.PORT ?? 9100);
const issuer = `http://127.0.0.1:${port}`;
const app = process.env.APP_URL ?? "http://localhost:8080";
const control = process.env.CONTROL === "1";
const codeSeconds = 60;

export const people = {
  ada: { says: "admin", name: "Ada Admin", email: "ada@example.org", groups: ["weftline-admins"] },
  eve: { says: "author", name: "Eve Editor", email: "eve@example.org", groups: ["weftline-authors"] },
  ben: { says: "approver", name: "Ben Approver", email: "ben@example.org", groups: ["weftline-approvers", "support-leads", "people-team"] },
  vic: { says: "viewer", name: "Vic Viewer", email: "vic@example.org", groups: ["weftline-viewers"] },
  gus: { says: "author in another team", name: "Gus Guest", email: "gus@example.net", groups: ["globex-authors"] },
  ...(control && { nia: { says: "no access", name: "Nia Nobody", email: "nia@example.org", groups: [] } }),
};

const client = {
  client_id: "weftline",
  client_secret: process.env.CLIENT_SECRET ?? "a-client-secret-for-the-demo-only",
  redirect_uris: [`${app}/login/demo/callback`],
  post_logout_redirect_uris: [`${app}/login`],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  id_token_signed_response_alg: "RS256",
  backchannel_logout_uri: `${app}/login/demo/backchannel`,
  backchannel_logout_session_required: true,
};

let expired = false;
let answer = build([newKey()]);

function newKey() {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { ...privateKey.export({ format: "jwk" }), kid: `k${Date.now()}`, use: "sig", alg: "RS256" };
}

// build makes the provider's handler anew: another key comes with another provider of the same name.
function build(keys) {
  const op = new Provider(issuer, {
    clients: [client],
    jwks: { keys },
    scopes: ["openid", "offline_access", "profile", "email", "groups"],
    claims: { openid: ["sub"], profile: ["name", "preferred_username"], email: ["email", "email_verified"], groups: ["groups"] },
    conformIdTokenClaims: false, // the claims of the scopes come with the ID token
    pkce: { required: () => true },
    cookies: { keys: ["a key that only signs cookies of the demo"] },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (ctx, hidden) => {
          ctx.body = page("Demo sign-out", `${hidden}
<p>Sign out of the demo provider too?</p>
<p><button form="op.logoutForm" name="logout" value="yes">Yes, sign me out</button> <button form="op.logoutForm">No, stay signed in</button></p>`);
        },
        postLogoutSuccessSource: (ctx) => {
          ctx.body = page("Demo sign-out", "<p>You are signed out.</p>");
        },
      },
      backchannelLogout: { enabled: true },
    },
    ttl: { AccessToken: 300, IdToken: 300, Session: 3600, Grant: 3600, RefreshToken: 3600, Interaction: 600, AuthorizationCode: () => (expired ? 1 : codeSeconds) },
    issueRefreshToken: (_ctx, known) => known.grantTypeAllowed("refresh_token"),
    fetch: (url, { dispatcher, ...options }) => globalThis.fetch(url, options), // else it refuses loopback addresses
    findAccount: (_ctx, id) => people[id] && { accountId: id, claims: () => claimsOf(id) },
    loadExistingGrant: grantEverything,
    renderError: (ctx, out) => {
      ctx.type = "html";
      ctx.body = page("Demo sign-in", `<p role="alert">${escaped(out.error_description ?? out.error)}</p>`);
    },
    interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
  });
  const handle = op.callback();
  return (request, response) => (request.url.startsWith("/interaction/") ? interact(op, request, response) : handle(request, response));
}

function claimsOf(id) {
  const { name, email, groups } = people[id];
  return { sub: id, name, preferred_username: id, email, email_verified: true, groups };
}

// grantEverything spares a page of consent: there is one client, and it is trusted.
async function grantEverything(ctx) {
  const { session, client: known, provider } = ctx.oidc;
  if (!session?.accountId) return undefined;
  const grant = new provider.Grant({ accountId: session.accountId, clientId: known.clientId });
  grant.addOIDCScope("openid offline_access profile email groups");
  await grant.save();
  return grant;
}

async function interact(op, request, response) {
  try {
    const { uid } = await op.interactionDetails(request, response);
    if (request.method === "GET") return send(response, 200, form(uid, ""));
    const typed = new URLSearchParams(await bodyOf(request));
    const login = typed.get("login") ?? "";
    if (!people[login] || typed.get("password") !== login) return send(response, 401, form(uid, "Wrong name or password."));
    await op.interactionFinished(request, response, { login: { accountId: login } }, { mergeWithLastSubmission: false });
  } catch (error) {
    send(response, 400, page("Demo sign-in", `<p role="alert">${escaped(error.message)}</p>`));
  }
}

const escaped = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

// page loads nothing from anywhere: the library's own pages would ask for fonts of another host.
function page(title, content) {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><body style="font:16px system-ui;max-width:26rem;margin:10vh auto;padding:0 1rem">
<h1>${title}</h1>${content}</body></html>`;
}

function form(uid, complaint) {
  const list = Object.entries(people).map(([id, p]) => `<li><b>${id}</b>: ${escaped(p.says)}</li>`).join("");
  return page("Demo sign-in", `<p role="alert">${escaped(complaint)}</p>
<form method="post" action="/interaction/${escaped(uid)}">
<p><label>Name<br><input name="login" autofocus autocomplete="username"></label></p>
<p><label>Password<br><input name="password" type="password" autocomplete="current-password"></label></p>
<p><button>Sign in</button></p></form>
<p>Each password is the name:</p><ul>${list}</ul>`);
}

function send(response, status, html) {
  response.writeHead(status, { "content-type": "text/html" });
  response.end(html);
}

async function bodyOf(request) {
  let body = "";
  for await (const part of request) {
    body += part;
    if (body.length > 10_000) throw new Error("too long");
  }
  return body;
}

// steer is for tests only.
async function steer(request, response) {
  const body = await bodyOf(request);
  if (request.url === "/control/groups") {
    const { person, groups } = JSON.parse(body);
    people[person].groups = groups;
  } else if (request.url === "/control/rotate") {
    answer = build([newKey()]);
  } else if (request.url === "/control/expire") {
    expired = JSON.parse(body).expired;
  }
  response.end("done");
}

http
  .createServer((request, response) => {
    if (control && request.url.startsWith("/control/")) return void steer(request, response);
    // An expired code is one that lives a second and is asked for after two.
    const late = expired && request.url === "/token" ? 2_000 : 0;
    setTimeout(() => answer(request, response), late);
  })
  .listen(port, "127.0.0.1", () => console.log(`provider ready at ${issuer}`));
