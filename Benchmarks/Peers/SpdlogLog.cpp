// spdlog as a peer of `framebus bench log`: as SpdlogAsync with a queue of 2¹⁸ lines and one
// thread, blocking when the queue is full; as SpdlogSync with a logger that writes to a buffered
// file.

#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "LogKit.h"

int main(int count, char **arguments) {
  log_job job = log_job_from(count, arguments);
  bool is_async = std::string(arguments[0]).find("SpdlogAsync") != std::string::npos;
  char *path = log_path(&job, "log");
  std::shared_ptr<spdlog::logger> logger;
  if (is_async) {
    spdlog::init_thread_pool(1 << 18, 1);
    logger = spdlog::basic_logger_mt<spdlog::async_factory>("bench", path);
  } else {
    logger = spdlog::basic_logger_mt("bench", path);
  }
  const char *message = log_message();
  log_run *run = log_begin(job);
  while (log_next(run)) {
    for (int line = 0; line < LOG_STRIDE; line++) logger->info("{}", message);
  }
  logger->flush();
  logger.reset();
  // Waits until the queue is empty.
  spdlog::shutdown();
  if (job.is_durable) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0 || fdatasync(file) != 0) log_fail(path);
    close(file);
  }
  std::free(path);
  log_report(run);
  return 0;
}
