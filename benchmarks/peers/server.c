/* The orders as a C program over epoll and SQLite: what the machine gives at most. One thread; what is written in one
   round of the loop is committed together, and answered after that.

       cc -O2 -o server server.c sqlite3.c -lpthread -ldl -lm && DATABASE=orders.db PORT=8080 ./server

   It reads the requests of this benchmark and refuses others; it has no TLS, no timeouts and no logs. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "sqlite3.h"

enum { CONNECTIONS = 8192, IN = 65536, OUT = 262144, ROUND = 256 };

typedef struct {
    int used, filled, sent;
    char in[IN], out[OUT];
} Connection;

typedef struct {
    char sku[64], note[2048];
    long long quantity, price;
    int has_note;
} Placed;

static sqlite3 *database;
static sqlite3_stmt *calling, *reading, *listing, *behind, *creating, *holding, *begin, *commit;
static Connection *connections[CONNECTIONS];
static int in_transaction;
static char date[64];

/* SHA-256, FIPS 180-4. */
static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turned(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void sha256(const uint8_t *text, size_t length, uint8_t digest[32]) {
    uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    uint8_t padded[256] = {0};
    if (length > 180) length = 180; /* a longer token is nobody's */
    size_t whole = (length + 9 + 63) / 64 * 64;
    memcpy(padded, text, length);
    padded[length] = 0x80;
    for (int i = 0; i < 8; i++) padded[whole - 1 - i] = (uint8_t)((uint64_t)length * 8 >> (8 * i));
    for (size_t at = 0; at < whole; at += 64) {
        uint32_t w[64], v[8];
        for (int i = 0; i < 16; i++) {
            const uint8_t *b = padded + at + 4 * i;
            w[i] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
        }
        for (int i = 16; i < 64; i++) {
            uint32_t s0 = turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3;
            uint32_t s1 = turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10;
            w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        memcpy(v, h, sizeof v);
        for (int i = 0; i < 64; i++) {
            uint32_t one = v[7] + (turned(v[4], 6) ^ turned(v[4], 11) ^ turned(v[4], 25)) +
                           ((v[4] & v[5]) ^ (~v[4] & v[6])) + K[i] + w[i];
            uint32_t two = (turned(v[0], 2) ^ turned(v[0], 13) ^ turned(v[0], 22)) +
                           ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
            for (int j = 7; j > 0; j--) v[j] = v[j - 1];
            v[4] += one;
            v[0] = one + two;
        }
        for (int i = 0; i < 8; i++) h[i] += v[i];
    }
    for (int i = 0; i < 32; i++) digest[i] = (uint8_t)(h[i / 4] >> (24 - 8 * (i % 4)));
}

static void failed(const char *what) {
    fprintf(stderr, "%s: %s\n", what, database ? sqlite3_errmsg(database) : strerror(errno));
    exit(1);
}

static sqlite3_stmt *prepared(const char *sql) {
    sqlite3_stmt *made;
    if (sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &made, NULL) != SQLITE_OK) failed(sql);
    return made;
}

static void now(char *into) {
    struct timespec t;
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &t);
    gmtime_r(&t.tv_sec, &parts);
    size_t n = strftime(into, 40, "%Y-%m-%dT%H:%M:%S", &parts);
    sprintf(into + n, ".%06ldZ", t.tv_nsec / 1000);
}

static void uuid(char *into) {
    uint8_t b[16];
    if (getrandom(b, 16, 0) != 16) failed("getrandom");
    b[6] = (b[6] & 0x0f) | 0x40;
    b[8] = (b[8] & 0x3f) | 0x80;
    for (int i = 0; i < 16; i++) into += sprintf(into, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", b[i]);
}

static char *quoted(char *to, const char *text) {
    *to++ = '"';
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') *to++ = '\\', *to++ = *text;
        else if ((unsigned char)*text < 0x20) to += sprintf(to, "\\u%04x", *text);
        else *to++ = *text;
    }
    *to++ = '"';
    return to;
}

static const char *text(sqlite3_stmt *s, int column) { return (const char *)sqlite3_column_text(s, column); }

/* id, customer, sku, quantity, unit_price, note, status, created_at, updated_at */
static char *shown(char *to, sqlite3_stmt *s) {
    long long quantity = sqlite3_column_int64(s, 3), price = sqlite3_column_int64(s, 4);
    to += sprintf(to, "{\"id\":\"%s\",\"customer\":\"%s\",\"sku\":\"%s\",\"quantity\":%lld,\"unit_price\":%lld,\"note\":",
                  text(s, 0), text(s, 1), text(s, 2), quantity, price);
    to = sqlite3_column_type(s, 5) == SQLITE_NULL ? stpcpy(to, "null") : quoted(to, text(s, 5));
    return to + sprintf(to, ",\"status\":\"%s\",\"total\":%lld,\"created_at\":\"%s\",\"updated_at\":\"%s\"}", text(s, 6),
                        quantity * price, text(s, 7), text(s, 8));
}

static void answer(Connection *c, const char *status, const char *headers, const char *body, int length) {
    c->filled += sprintf(c->out + c->filled,
                         "HTTP/1.1 %s\r\nDate: %s\r\nContent-Type: %s\r\n%sContent-Length: %d\r\n\r\n", status, date,
                         *status == '2' ? "application/json" : "application/problem+json", headers, length);
    memcpy(c->out + c->filled, body, (size_t)length);
    c->filled += length;
}

static void refuse(Connection *c, const char *status) {
    char body[160];
    int n = sprintf(body, "{\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%.3s}", status + 4, status);
    answer(c, status, strncmp(status, "401", 3) ? "" : "WWW-Authenticate: Bearer\r\n", body, n);
}

/* A flat object of texts and integers, no member of which is unknown. */
static int placed(char *at, Placed *into) {
    int seen = 0;
    memset(into, 0, sizeof *into);
    while (*at == ' ') at++;
    if (*at++ != '{') return 0;
    for (;;) {
        char name[16], value[2048];
        int n = 0, is_text;
        while (strchr(" ,\n", *at) && *at) at++;
        if (*at == '}') break;
        if (*at++ != '"') return 0;
        while (*at && *at != '"' && n < 15) name[n++] = *at++;
        name[n] = 0;
        if (*at++ != '"') return 0;
        while (strchr(" :", *at) && *at) at++;
        is_text = *at == '"';
        n = 0;
        if (is_text) {
            for (at++; *at && *at != '"' && n < 2047; at++) {
                if (*at == '\\') at++;
                value[n++] = *at;
            }
            if (*at++ != '"') return 0;
        } else
            while (*at && !strchr(",} \n", *at) && n < 2047) value[n++] = *at++;
        value[n] = 0;
        if (!strcmp(name, "sku") && is_text) {
            if (n < 3 || n > 20 || (int)strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != n) return 0;
            strcpy(into->sku, value), seen |= 1;
        } else if (!strcmp(name, "quantity") && !is_text)
            into->quantity = atoll(value), seen |= 2;
        else if (!strcmp(name, "unit_price") && !is_text)
            into->price = atoll(value), seen |= 4;
        else if (!strcmp(name, "note"))
            strcpy(into->note, value), into->has_note = is_text && n <= 500;
        else
            return 0;
    }
    return seen == 7 && into->quantity >= 1 && into->quantity <= 1000 && into->price >= 0 && into->price <= 100000000;
}

static void write_begins(void) {
    if (in_transaction) return;
    if (sqlite3_step(begin) != SQLITE_DONE) failed("begin");
    sqlite3_reset(begin);
    in_transaction = 1;
}

static void create(Connection *c, const char *customer, char *body) {
    Placed it;
    char id[40], at[40], headers[80], out[8192];
    if (!placed(body, &it)) {
        refuse(c, "422 Unprocessable Content");
        return;
    }
    write_begins();
    uuid(id), now(at);
    sqlite3_bind_text(creating, 1, id, -1, SQLITE_STATIC);
    sqlite3_bind_text(creating, 2, customer, -1, SQLITE_STATIC);
    sqlite3_bind_text(creating, 3, it.sku, -1, SQLITE_STATIC);
    sqlite3_bind_int64(creating, 4, it.quantity);
    sqlite3_bind_int64(creating, 5, it.price);
    if (it.has_note) sqlite3_bind_text(creating, 6, it.note, -1, SQLITE_STATIC);
    else sqlite3_bind_null(creating, 6);
    sqlite3_bind_text(creating, 7, at, -1, SQLITE_STATIC);
    if (sqlite3_step(creating) != SQLITE_ROW) failed("insert");
    sprintf(headers, "Location: /orders/%s\r\n", id);
    int n = (int)(shown(out, creating) - out);
    sqlite3_step(creating), sqlite3_reset(creating);
    answer(c, "201 Created", headers, out, n);
}

static void list(Connection *c, const char *customer, const char *cursor) {
    char out[65536], at[64] = "", last[64] = "", *to = stpcpy(out, "{\"data\":[");
    sqlite3_stmt *s = listing;
    if (cursor && sscanf(cursor, "%63[^_]_%63[^& ]", at, last) == 2) {
        s = behind;
        sqlite3_bind_text(s, 3, at, -1, SQLITE_STATIC), sqlite3_bind_text(s, 4, last, -1, SQLITE_STATIC);
    }
    sqlite3_bind_text(s, 1, customer, -1, SQLITE_STATIC);
    sqlite3_bind_int(s, 2, 21);
    int rows = 0;
    while (sqlite3_step(s) == SQLITE_ROW && rows++ < 20) {
        if (rows > 1) *to++ = ',';
        to = shown(to, s);
        strcpy(last, text(s, 0)), strcpy(at, text(s, 7));
    }
    sqlite3_reset(s);
    to += rows > 20 ? sprintf(to, "],\"next\":\"%s_%s\"}", at, last) : sprintf(to, "],\"next\":null}");
    answer(c, "200 OK", "", out, (int)(to - out));
}

static void one(Connection *c, sqlite3_stmt *s, const char *id, const char *customer, const char *at) {
    char out[8192];
    sqlite3_bind_text(s, 1, id, 36, SQLITE_STATIC), sqlite3_bind_text(s, 2, customer, -1, SQLITE_STATIC);
    if (at) sqlite3_bind_text(s, 3, at, -1, SQLITE_STATIC);
    if (sqlite3_step(s) == SQLITE_ROW) {
        int n = (int)(shown(out, s) - out);
        if (at) sqlite3_step(s);
        answer(c, "200 OK", "", out, n);
    } else
        refuse(c, "404 Not Found");
    sqlite3_reset(s);
}

/* One whole request, from `head` to `end` of its body. */
static void serve(Connection *c, char *head, char *body, char *end) {
    char kept = *end, customer[40], at[40], *authorization = strcasestr(head, "\r\nauthorization: bearer ");
    uint8_t digest[32];
    *end = 0;
    customer[0] = 0;
    if (authorization && authorization < body) {
        authorization += strlen("\r\nauthorization: bearer ");
        sha256((uint8_t *)authorization, strcspn(authorization, "\r"), digest);
        sqlite3_bind_blob(calling, 1, digest, 32, SQLITE_STATIC);
        if (sqlite3_step(calling) == SQLITE_ROW) snprintf(customer, sizeof customer, "%s", text(calling, 0));
        sqlite3_reset(calling);
    }
    char *path = strchr(head, ' ') + 1;
    size_t length = strcspn(path, " ");
    int get = !strncmp(head, "GET ", 4), post = !strncmp(head, "POST ", 5);
    if (!customer[0])
        refuse(c, "401 Unauthorized");
    else if (get && length == 44 && !strncmp(path, "/orders/", 8))
        one(c, reading, path + 8, customer, NULL);
    else if (get && !strncmp(path, "/orders", 7) && (path[7] == ' ' || path[7] == '?')) {
        char *cursor = strstr(path, "cursor=");
        list(c, customer, cursor && cursor < path + length ? cursor + 7 : NULL);
    } else if (post && length == 7 && !strncmp(path, "/orders", 7))
        create(c, customer, body);
    else if (post && length == 49 && !strncmp(path, "/orders/", 8) && !strncmp(path + 44, "/hold", 5))
        write_begins(), now(at), one(c, holding, path + 8, customer, at);
    else
        refuse(c, "404 Not Found");
    *end = kept;
}

/* Every whole request that has been read; what is left is the beginning of the next. */
static void requests(Connection *c) {
    int at = 0;
    c->in[c->used] = 0;
    for (;;) {
        char *head = c->in + at, *body = strstr(head, "\r\n\r\n");
        if (!body || OUT - c->filled < 70000) break;
        body += 4;
        char *stated = strcasestr(head, "\r\ncontent-length:");
        long length = stated && stated < body ? atol(stated + 17) : 0;
        if (body + length > c->in + c->used) break;
        serve(c, head, body, body + length);
        at = (int)(body + length - c->in);
    }
    memmove(c->in, c->in + at, (size_t)(c->used - at));
    c->used -= at;
}

static void closed(int fd) {
    close(fd);
    free(connections[fd]);
    connections[fd] = NULL;
}

int main(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int on = 1, door = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), poll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = door}, events[ROUND];
    if (sqlite3_open(getenv("DATABASE"), &database) != SQLITE_OK) failed("open");
    sqlite3_exec(database, "pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on", 0, 0, 0);
#define SHOWN "id, customer, sku, quantity, unit_price, note, status, created_at, updated_at"
    calling = prepared("select id from customer where api_key = ?");
    reading = prepared("select " SHOWN " from \"order\" where id = ? and customer = ?");
    listing = prepared("select " SHOWN " from \"order\" where customer = ? order by created_at desc, id limit ?");
    behind = prepared("select " SHOWN " from \"order\" where customer = ?1 and (created_at < ?3 or created_at = ?3 and"
                      " id > ?4) order by created_at desc, id limit ?2");
    creating = prepared("insert into \"order\" (" SHOWN ") values (?1, ?2, ?3, ?4, ?5, ?6, 'open', ?7, ?7) returning " SHOWN);
    holding = prepared("update \"order\" set status = 'held', updated_at = ?3 where id = ?1 and customer = ?2 and"
                       " status in ('open', 'held') returning " SHOWN);
    begin = prepared("begin immediate"), commit = prepared("commit");
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    address.sin_port = htons((uint16_t)atoi(getenv("PORT")));
    if (bind(door, (struct sockaddr *)&address, sizeof address) || listen(door, 1024)) failed("listen");
    epoll_ctl(poll, EPOLL_CTL_ADD, door, &event);
    for (;;) {
        int ready = epoll_wait(poll, events, ROUND, -1);
        time_t seconds = time(NULL);
        strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime(&seconds));
        for (int i = 0; i < ready; i++) {
            int fd = events[i].data.fd;
            if (fd == door) {
                while ((fd = accept4(door, NULL, NULL, SOCK_NONBLOCK)) >= 0 && fd < CONNECTIONS) {
                    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
                    connections[fd] = calloc(1, sizeof(Connection));
                    event.data.fd = fd;
                    epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
                }
                continue;
            }
            Connection *c = connections[fd];
            ssize_t n = read(fd, c->in + c->used, (size_t)(IN - 1 - c->used));
            if (n < 0 && errno == EAGAIN) continue;
            if (n <= 0) {
                closed(fd);
                continue;
            }
            c->used += (int)n;
            requests(c);
        }
        if (in_transaction) {
            if (sqlite3_step(commit) != SQLITE_DONE) failed("commit");
            sqlite3_reset(commit);
            in_transaction = 0;
        }
        for (int i = 0; i < ready; i++) {
            Connection *c = events[i].data.fd == door ? NULL : connections[events[i].data.fd];
            if (!c || !c->filled) continue;
            if (write(events[i].data.fd, c->out, (size_t)c->filled) != c->filled) closed(events[i].data.fd);
            else c->filled = 0;
        }
    }
}
